import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLedger } from '../../../src/incidents/ledger.ts';
import { SignalOutcome } from '../../../src/signals/signal.ts';
import { fakeClock } from '../../support/fake-clock.ts';

function aLedger(over: { mostWorkloads?: number; entriesEach?: number } = {}) {
  const clock = fakeClock();
  const counted: string[] = [];
  const count = (outcome: string, times: number): void => void counted.push(`${outcome} ${times}`);
  return { clock, counted, ledger: createLedger({ clock, count, ...over }) };
}
const about = (workload = 'shop/Deployment/api', reason = 'BackOff') => ({ workload, class: 'CrashLoop', reason });
const { recorded, repeated, healedBeforeTold, namespaceNotSelected, ownerUnknown } = SignalOutcome;

test('what waits ends with its incident, each signal once', () => {
  const { ledger, counted } = aLedger();
  for (let n = 0; n < 5; n++) ledger.arrived();
  assert.equal(ledger.waiting(), 5);
  ledger.ended(ownerUnknown, about('shop/Pod/x'));
  ledger.waits('k', about(), 3);
  ledger.waits('k', about('shop/Deployment/web'));
  assert.deepEqual([ledger.waiting(), counted], [4, ['OwnerUnknown 1']]);
  ledger.settle('k', recorded);
  ledger.settle('k', recorded);
  assert.deepEqual(counted, ['OwnerUnknown 1', 'Told 3', 'Told 1']);
  assert.deepEqual(ledger.totals(), { seen: 5, waiting: 0, outcomes: { OwnerUnknown: 1, Told: 4 } });
});

test('a page tells what waits, and the last outcomes, newest first; the same in a row is one entry', async () => {
  const { ledger, clock } = aLedger();
  const one = (work: () => void): void => (ledger.arrived(), work());
  one(() => ledger.waits('k', about()));
  await clock.advance(30_000);
  ledger.settle('k', recorded);
  for (let n = 0; n < 3; n++) {
    await clock.advance(1_000);
    one(() => ledger.ended(repeated, about()));
  }
  one(() => ledger.waits('k2', { ...about(), incident: 'shop/ResourceQuota/q' }));
  assert.deepEqual(ledger.of('shop/Deployment/api'), {
    workload: 'shop/Deployment/api',
    waiting: [{ class: 'CrashLoop', reason: 'BackOff', count: 1, since: '2026-11-16T03:12:33.000Z' }],
    outcomes: [
      {
        class: 'CrashLoop',
        reason: 'BackOff',
        outcome: 'Repeated',
        first: '2026-11-16T03:12:31.000Z',
        last: '2026-11-16T03:12:33.000Z',
        count: 3,
      },
      {
        class: 'CrashLoop',
        reason: 'BackOff',
        outcome: 'Told',
        first: '2026-11-16T03:12:00.000Z',
        last: '2026-11-16T03:12:30.000Z',
        count: 1,
      },
    ],
  });
  ledger.settle('k2', healedBeforeTold);
  assert.deepEqual(ledger.of('shop/Deployment/api').outcomes[0]?.incident, 'shop/ResourceQuota/q');
  assert.deepEqual(ledger.of('shop/Deployment/other').outcomes, []);
});

test('it stays small: so many workloads, so many entries, and no noise of namespaces that are not watched', () => {
  const { ledger } = aLedger({ mostWorkloads: 3, entriesEach: 2 });
  for (let n = 0; n < 5; n++) {
    ledger.arrived();
    ledger.ended(ownerUnknown, about(`shop/Pod/${n}`));
    ledger.arrived();
    ledger.ended(repeated, about('shop/Deployment/api', `Reason${n}`));
    for (let noise = 0; noise < 10; noise++) {
      ledger.arrived();
      ledger.ended(namespaceNotSelected, about(`other/Pod/${n}-${noise}`));
    }
  }
  const pages = [0, 1, 2, 3, 4].map((n) => ledger.of(`shop/Pod/${n}`).outcomes.length);
  assert.deepEqual(pages, [0, 0, 0, 1, 1]);
  assert.deepEqual(
    ledger.of('shop/Deployment/api').outcomes.map(({ reason }) => reason),
    ['Reason4', 'Reason3'],
  );
  assert.equal(ledger.totals().outcomes['NamespaceNotSelected'], 50);
});

test('what is dropped at the source is counted', () => {
  const { ledger, counted } = aLedger();
  ledger.dropped(SignalOutcome.notAFailure);
  assert.deepEqual(
    [counted, ledger.totals()],
    [['NotAFailure 1'], { seen: 1, waiting: 0, outcomes: { NotAFailure: 1 } }],
  );
});
