import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Unreachable } from '../../../src/kube/api.ts';
import type { Signal } from '../../../src/signals/signal.ts';
import type { Process } from '../../support/street.ts';
import { aToyStreet, type ToyStreet } from '../../support/toys.ts';

/* Whatever happens, in whatever order: each signal that was seen has ended in one outcome, or is still waiting. */

const names = ['api', 'web', 'db'];
const classes = ['CrashLoop', 'ProbeFailing', 'RolloutStuck', 'QuotaExceeded', 'RenewalFailed', 'JobFailed'];
const config = {
  classes: { JobFailed: { enabled: false } },
  ignore: [{ name: 'db', class: 'RolloutStuck' }],
  extraReasons: [{ reason: 'RenewalFailed', class: 'RenewalFailed', severity: 'warning' as const, for: 60_000 }],
};

type Step = (street: ToyStreet, process: Process) => Promise<number> | number; // how many signals it was
const name = fc.constantFrom(...names);
const failureClass = fc.constantFrom(...classes);

function signalOf(street: ToyStreet, of: string, on: string, how: number): Signal {
  const signal = street.signal(of, on, how % 3 === 0 ? { listed: true, atStart: how % 2 === 0 } : {});
  if (of === 'QuotaExceeded') return { ...signal, cause: { kind: 'ResourceQuota', name: 'tight' } };
  if (how % 7 === 1) return { ...signal, object: { kind: 'Pod', name: `nobodys-${how}`, uid: 'gone' } };
  return how % 7 === 2 ? { ...signal, namespace: 'kube-system' } : signal;
}

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(failureClass, name, fc.nat(20)).map(
      ([of, on, how]): Step =>
        (street, { onSignal }) => (onSignal(signalOf(street, of, on, how)), 1),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(name, fc.subarray(classes)).map(
      ([on, of]): Step =>
        ({ is }) => (is(on, of), 0),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.boolean().map(
      (full): Step =>
        ({ is }) => (
          is('tight', full ? ['QuotaExceeded'] : [], { kind: 'ResourceQuota', affected: ['Deployment/api'] }),
          0
        ),
    ),
  },
  {
    weight: 5,
    arbitrary: fc.constantFrom(0, 1_000, 9_000, 31_000, 130_000).map(
      (ms): Step =>
        async ({ clock }) => (await clock.advance(ms), 0),
    ),
  },
  {
    weight: 1,
    arbitrary: name.map(
      (on): Step =>
        ({ server }) => (server.remove('Deployment', 'shop', on), 0),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Step>(({ server, clock }) => {
      const untilMs = clock.now() + 20_000;
      server.hooks.before = () => {
        if (clock.now() < untilMs) throw new Unreachable('connection reset');
      };
      return 0;
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Step>(({ fixes, server }, { onFix }) => {
      for (const { metadata } of fixes().slice(-1)) {
        server.remove('Remediation', 'shop', metadata.name);
        onFix({ type: 'gone', namespace: 'shop', name: metadata.name, uid: metadata.uid });
      }
      return 0;
    }),
  },
);

test('seen = the sum of all outcomes + those that wait; and nothing waits for ever', async () => {
  const ended = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 40 }), fc.nat(10), async (steps, adoptedAfter) => {
      const street = aToyStreet(config);
      street.workload('tight', 'ResourceQuota');
      const process = street.start({}, false);
      let seen = 0;
      const balance = (): void => assert.equal(street.outcomes.length + process.ledger.waiting(), seen);
      for (const [n, take] of steps.entries()) {
        if (n === adoptedAfter) process.onFixes([]);
        seen += await take(street, process);
        balance();
      }
      if (steps.length <= adoptedAfter) process.onFixes([]);
      delete street.server.hooks.before;
      for (const on of [...names, 'tight'])
        street.is(on, [], { kind: on === 'tight' ? 'ResourceQuota' : 'Deployment' });
      for (let n = 0; n < 12; n++) await street.clock.advance(300_000);
      assert.equal(process.ledger.waiting(), 0);
      balance();
      assert.deepEqual(process.ledger.totals().seen, seen);
      for (const outcome of street.outcomes) ended.add(outcome);
      process.stop();
    }),
    { numRuns: 80 },
  );
  const usual = ['ClassDisabled', 'HealedBeforeTold', 'OwnerUnknown', 'Told']; // prettier-ignore
  assert.deepEqual(
    usual.filter((outcome) => !ended.has(outcome)),
    [],
    'each of these was somebody’s end',
  );
});
