import assert from 'node:assert/strict';
import { test } from 'node:test';
import { undoIntro } from '../../../src/kube/remediation.ts';
import { composeMessage } from '../../../src/notices/cards/compose.ts';
import { composeDetails } from '../../../src/notices/cards/details.ts';
import type { Line, Message } from '../../../src/notices/cards/message.ts';
import { aContext } from '../../golden/scenes.ts';
import { aFix, aQuotaFix, at } from '../../support/fixes.ts';

const linesOf = ({ cards }: Message, label: string): readonly Line[] =>
  cards[0]!.rows.find((row) => row.label === label)?.lines ?? [];
const riskOf = (command: string): readonly Line[] =>
  linesOf(
    composeMessage([aQuotaFix({ spec: { rationale: `It stays away. ${undoIntro}\n${command}` } })], aContext()),
    'Risk',
  );
const quotaOf = (annotation: string, resource = 'pods'): string =>
  `kubectl -n shop create -f - <<'EOF'\n{"kind":"ResourceQuota","metadata":{"annotations":{"note":"${annotation}"}},"spec":{"hard":{"${resource}":"10"}}}\nEOF`;

const shown: [string, string][] = [
  ['a quota of Secrets', quotaOf('ours', 'count/secrets')],
  ['the image of a container that is called auth', 'kubectl -n shop set image deploy/web auth=shop/auth:1.41'],
  ['a namespace that is called so', 'kubectl -n user-auth rollout undo deploy/api-key --to-revision=41'],
];
for (const [name, command] of shown)
  test(`the command to put it back is there as it is: ${name}`, () => {
    assert.deepEqual(riskOf(command).at(-1), {
      command,
      orElse: (riskOf(command).at(-1) as { orElse: string }).orElse,
    });
  });

test('a command that holds a secret is not in the chat: what prints it is, and that is said', () => {
  const prints = "kubectl -n shop get fix platform-hardening-3f9a1c-7 -o jsonpath='{.spec.rationale}'";
  assert.deepEqual(riskOf(quotaOf('password=hunter2')), [
    'It stays away. Put it back with:',
    'a command with something in it that is not for a chat; this prints it:',
    { command: prints, orElse: prints },
  ]);
});

test('Details keep to themselves what the card does', () => {
  const diff = 'app args  --db=postgres://app:hunter2@db/shop → --db=postgres://app:hunter3@db/shop';
  const fix = aFix({ status: { preview: { diff, targetHash: 'abc', at: at('02:12:36') } } });
  const details = linesOf(composeDetails(fix, [], aContext()), 'Fix');
  assert.deepEqual(details[1], {
    code: 'app args  --db=postgres://[redacted]@db/shop → --db=postgres://[redacted]@db/shop',
  });
  assert.doesNotMatch(JSON.stringify(composeMessage([fix], aContext())), /hunter/);
});
