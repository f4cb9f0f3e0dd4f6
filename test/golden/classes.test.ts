import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAction } from '../../src/actions/table.ts';
import { classNames } from '../../src/config/schema.ts';
import type { Remediation, RemediationStatus } from '../../src/kube/remediation.ts';
import { composeMessage } from '../../src/notices/cards/compose.ts';
import { remediationSpec } from '../../src/proposals/record.ts';
import { classOf } from '../../src/signals/classes.ts';
import { aConfig } from '../support/config.ts';
import { condition, uidOf } from '../support/fixes.ts';
import { aRollout } from '../support/rollout.ts';
import { type ClassScene, classScenes, withLogs } from './class-scenes.ts';
import { compareWords } from './compare.ts';
import { aContext } from './scenes.ts';

/** One card of each class, from a broken cluster through the very code that reads it. */
async function fixOf(scene: ClassScene): Promise<{ fix: Remediation; nowMs: number }> {
  const shop = aRollout({ after: { image: 'shop/web:1.42' }, ...scene.rollout });
  scene.also?.(shop);
  await shop.clock.advance(30_000);
  const nowMs = shop.clock.now();
  const { object = { kind: 'Deployment', name: 'web' }, namespace = 'shop' } = scene;
  const reader = shop.server.client();
  const deps = { nowMs, ...(scene.logs && { logs: reader, config: withLogs }) };
  const derived = await shop.ask(scene.class, deps, object, namespace);
  assert.ok(derived, scene.name);
  const spec = remediationSpec({
    incident: {
      key: `${namespace}/${object.kind}/${object.name}`,
      class: scene.class,
      severity: classOf(scene.class, aConfig()).severity,
      reason: scene.class,
      object: { ...object, uid: uidOf(900) },
      message: '',
      firstSeenMs: nowMs - 30_000,
    },
    derived,
    earlier: [],
    notifyOnly: false,
    proposedBy: 'system:serviceaccount:tapfix:tapfix-watcher',
    config: aConfig(),
    nowMs,
  });
  const at = new Date(nowMs).toISOString();
  const { action, params } = spec.action ? parseAction(spec.action) : {};
  const plan = await action?.prepare(params, { namespace, fixUid: '', reader });
  const preview = plan?.ok ? { preview: { diff: plan.diff, targetHash: plan.targetHash, at } } : {};
  const phase = spec.action ? 'Proposed' : 'Noticed';
  const checks = spec.action ? [condition('Rehearsed', '03:12:31'), condition('Confirmed', '03:12:31')] : [];
  const sightings = { count: 1, lastSeen: at, ready: 2, desired: 3, ...scene.sightings };
  const conditions = [condition(phase, '03:12:30'), ...checks];
  const status: RemediationStatus = { phase, conditions, sightings, ...preview };
  const metadata = { name: 'x-1', namespace, uid: uidOf(1), resourceVersion: '1', creationTimestamp: at };
  return { fix: { metadata, spec, status }, nowMs };
}

for (const scene of classScenes)
  test(`the words of a ${scene.class}: ${scene.name}`, async () => {
    const { fix, nowMs } = await fixOf(scene);
    assert.equal(fix.spec.action !== undefined, scene.name.endsWith('proposed'));
    const message = composeMessage([fix], aContext({ nowMs }));
    const [card] = message.cards;
    assert.ok(card!.headline.length <= 60, `fits a lock screen: ${card!.headline}`);
    compareWords(`class ${scene.name}`, message);
  });

test('every class but the quota, which has scenes of its own, has one', () =>
  assert.deepEqual(
    [...new Set(classScenes.map((scene) => scene.class))].sort(),
    classNames.filter((name) => name !== 'QuotaExceeded').sort(),
  ));
