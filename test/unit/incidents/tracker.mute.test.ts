import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foundAtStart } from '../../../src/kube/remediation.ts';
import type { Rules } from '../../../src/signals/filter.ts';
import { aToyStreet, type ToyStreet } from '../../support/toys.ts';

/* What somebody muted is not told; what is still broken when the mute is over is, though nothing new happens to it. */

type Process = ReturnType<ToyStreet['start']>;

/** As a command in chat does, or its time. */
function mute({ config }: ToyStreet, { reconfigure }: Process, ...globs: string[]): void {
  (config as Rules).muted = globs;
  reconfigure();
}

function aStuckRollout() {
  const street = aToyStreet();
  const process = street.start();
  street.is('api', ['RolloutStuck']); // of which no more is heard, however long it lasts
  return { street, process };
}

test('broken while muted: told when that is over', async () => {
  const { street, process } = aStuckRollout();
  mute(street, process, 'shop');
  process.onSignal(street.signal('RolloutStuck', 'api', { listed: true, atStart: true }));
  await street.advance(600_000);
  assert.deepEqual([street.told(), street.outcomes], [[], ['Muted']]);
  mute(street, process);
  await street.advance(5_000);
  assert.deepEqual(street.told(), ['RolloutStuck api 1']);
  const [fix] = street.fixes();
  assert.equal(fix?.spec.incident.firstSeen, '2026-11-16T03:12:00.000Z');
  assert.equal(fix?.metadata.annotations?.[foundAtStart], undefined, 'nobody started just now');
  assert.equal(process.ledger.waiting(), 0);
});

test('muted during its patience: told when that is over', async () => {
  const { street, process } = aStuckRollout();
  street.is('api', ['ProbeFailing']);
  process.onSignal(street.signal('ProbeFailing', 'api'));
  await street.advance(60_000);
  mute(street, process, 'shop');
  await street.advance(600_000);
  mute(street, process, 'shop', 'pay'); // another one changes nothing for it
  await street.advance(60_000);
  assert.deepEqual([street.told(), street.outcomes], [[], ['Muted']]);
  mute(street, process, 'pay');
  await street.advance(5_000);
  assert.deepEqual(street.told(), ['ProbeFailing api 1']);
});

test('healed, or gone, while muted: silence', async () => {
  const { street, process } = aStuckRollout();
  street.is('web', ['RolloutStuck']);
  mute(street, process, 'shop');
  for (const name of ['api', 'web']) process.onSignal(street.signal('RolloutStuck', name));
  await street.advance(60_000);
  street.is('api', []);
  street.server.remove('Deployment', 'shop', 'web');
  mute(street, process);
  await street.advance(300_000);
  assert.deepEqual(street.told(), []);
});

test('a workload that is muted by its name does not speak through its quota while that lasts', async () => {
  const { street, process } = aStuckRollout();
  const cause = { kind: 'ResourceQuota', name: 'tight' };
  street.workload('tight', 'ResourceQuota');
  street.is('tight', ['QuotaExceeded'], { kind: 'ResourceQuota', affected: ['Deployment/api'] });
  mute(street, process, 'shop/api');
  process.onSignal(street.signal('QuotaExceeded', 'api', { cause }));
  await street.advance(60_000);
  mute(street, process, 'shop/api', 'pay');
  await street.advance(60_000);
  assert.deepEqual(street.told(), []);
  mute(street, process, 'pay');
  await street.advance(5_000);
  assert.deepEqual(street.told(), ['QuotaExceeded tight 1']);
});

test('what was told before it was muted is not told again', async () => {
  const { street, process } = aStuckRollout();
  process.onSignal(street.signal('RolloutStuck', 'api'));
  await street.advance(5_000);
  mute(street, process, 'shop');
  process.onSignal(street.signal('RolloutStuck', 'api'));
  await street.advance(60_000);
  mute(street, process);
  await street.advance(60_000);
  assert.deepEqual(street.told(), ['RolloutStuck api 1']);
});
