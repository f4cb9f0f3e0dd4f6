import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remediationName } from '../../../src/incidents/key.ts';
import { conditionOf } from '../../../src/kube/remediation.ts';
import { aToyStreet, type ToyStreet } from '../../support/toys.ts';

/* Event reasons of the operator's own: no object says whether they are still true. */

const extraReasons = [{ reason: 'RenewalFailed', class: 'RenewalFailed', severity: 'warning' as const, for: 60_000 }];
const name = remediationName('shop/Certificate/web', 1);
const certificate = { kind: 'Certificate', name: 'web', uid: 'c' };
const seen = (street: ToyStreet, over = {}) => street.signal('RenewalFailed', 'x', { object: certificate, ...over });
const minutes = 60_000;

async function told() {
  const street = aToyStreet({ extraReasons });
  const process = street.start();
  process.onSignal(seen(street));
  await street.advance(30_000);
  process.onSignal(seen(street));
  await street.advance(31_000);
  return { street, process };
}

test('one sighting is not enough, however long ago', async () => {
  const street = aToyStreet({ extraReasons });
  const process = street.start();
  process.onSignal(seen(street, { listed: true, atStart: true }));
  await street.advance(5 * minutes);
  process.onSignal(seen(street, { listed: true })); // a new list has the same event
  await street.advance(9 * minutes);
  assert.deepEqual([street.told(), street.outcomes, process.ledger.waiting()], [[], [], 2]);
  await street.advance(2 * minutes);
  assert.deepEqual(
    [street.told(), street.outcomes, process.ledger.waiting()],
    [[], ['NoLongerSeen', 'NoLongerSeen'], 0],
  );
});

test('a second sighting, and its patience is over: told, with nothing to offer', async () => {
  const { street } = await told();
  const [fix] = street.fixes();
  assert.deepEqual(street.told(), ['RenewalFailed web 1']);
  assert.deepEqual(
    [fix?.spec.action, fix?.spec.incident.severity, fix?.spec.diagnosis],
    [undefined, 'warning', 'x has RenewalFailed'],
  );
  assert.equal(fix?.spec.rationale, 'no fix is known for this event reason');
});

test('seen again and again it stays open; after a quarter of an hour of silence it is no longer seen, never healthy', async () => {
  const { street, process } = await told();
  for (let n = 0; n < 4; n++) {
    await street.advance(10 * minutes);
    process.onSignal(seen(street));
  }
  await street.advance(14 * minutes);
  assert.deepEqual(street.cleared(), []);
  await street.advance(2 * minutes);
  assert.deepEqual(street.cleared(), [name]);
  const { reason, message } = conditionOf(street.fixes()[0]!, 'IncidentCleared')!;
  assert.deepEqual([reason, message], ['NoLongerSeen', 'no longer seen']);
});

test('a restart does not forget when it was last seen', async () => {
  const { street, process } = await told();
  process.stop();
  street.start();
  await street.advance(13 * minutes);
  assert.deepEqual(street.cleared(), []);
  await street.advance(3 * minutes);
  assert.deepEqual(street.cleared(), [name]);
});

test('a long patience means a long silence', async () => {
  const street = aToyStreet({ extraReasons: [{ ...extraReasons[0]!, for: 10 * minutes }] });
  const process = street.start();
  process.onSignal(seen(street));
  await street.advance(minutes);
  process.onSignal(seen(street));
  await street.advance(29 * minutes);
  assert.deepEqual([street.told().length, street.cleared()], [1, []]);
  await street.advance(3 * minutes);
  assert.deepEqual(street.cleared(), [name]);
});

test('about a workload that can be read: its pods are counted, and when it is gone it is over', async () => {
  const street = aToyStreet({ extraReasons });
  const process = street.start();
  for (let n = 0; n < 2; n++) process.onSignal(street.signal('RenewalFailed', 'api'));
  await street.advance(62_000);
  const { ready, desired } = street.fixes()[0]!.status!.sightings!;
  assert.deepEqual([ready, desired], [1, 1]);
  street.server.remove('Deployment', 'shop', 'api');
  await street.advance(2 * minutes);
  assert.equal(conditionOf(street.fixes()[0]!, 'IncidentCleared')?.reason, 'Gone');
});
