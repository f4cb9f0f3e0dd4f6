import assert from 'node:assert/strict';
import { templateDiff } from '../../../src/actions/rollout-undo.ts';
import { condition } from '../../../src/controller/write-status.ts';
import { renderSlack } from '../../../src/channels/slack/render.ts';
import { renderTelegram } from '../../../src/channels/telegram/render.ts';
import { templateChanges } from '../../../src/diagnosis/words/template-changes.ts';
import { ApiError } from '../../../src/kube/api.ts';
import { withoutSecrets } from '../../../src/kube/template-secrets.ts';
import { createLog } from '../../../src/lib/log.ts';
import { composeMessage } from '../../../src/notices/cards/compose.ts';
import { composeDetails } from '../../../src/notices/cards/details.ts';
import { aContext } from '../../golden/scenes.ts';
import { aFix, at } from '../../support/fixes.ts';
import { type PlantedPair, readableNames } from '../../support/planted-templates.ts';
import { tappableIn } from '../../support/telegram-html.ts';

/** The API server quotes a value that it refuses. */
const refused = (value: string): ApiError =>
  new ApiError(
    `Deployment.apps "web" is invalid: spec.template.spec.containers[0].args[1]: Invalid value: ${JSON.stringify(value)}: too long`,
    422,
    'Invalid',
  );

/** Everything that is made of a template for people, and no secret of it in any of that. */
export function checkPair({ before, after, secrets }: PlantedPair): void {
  const diff = templateDiff(before, after);
  const changed = templateChanges(before, after);
  const snapshot = JSON.stringify([withoutSecrets(before), withoutSecrets(after)]);
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line) });
  const error = refused(secrets[0]!);
  const failed = condition('Failed', true, 'Refused', `the API server refused it: ${error.message}`);
  log.warn({ error: error.message, ...failed }, 'phase');
  const fix = aFix({
    spec: { context: { changed, evidence: [error.message] } },
    status: { preview: { diff, targetHash: 'h', at: at('02:12:36') } },
  });
  const messages = [composeMessage([fix], aContext()), composeDetails(fix, [], aContext())];
  const rendered = messages.map((message) => [renderTelegram(message), renderSlack(message)]);
  const told = [diff, ...changed, snapshot, ...lines, JSON.stringify(failed), JSON.stringify(rendered)];
  for (const text of told)
    assert.deepEqual(
      secrets.filter((secret) => text.includes(secret)),
      [],
      text,
    );
  for (const name of readableNames) assert.ok(snapshot.includes(name), `${name} is not to be read in ${snapshot}`);
  assert.match(diff, / changed \(value not shown\)/);
  for (const message of messages) assert.deepEqual(tappableIn(renderTelegram(message).html), []);
}
