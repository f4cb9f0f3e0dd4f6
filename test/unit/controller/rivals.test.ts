import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whoGoesFirst } from '../../../src/controller/rivals.ts';
import type { Api } from '../../../src/kube/api.ts';
import { conditionOf, phaseOf, type Remediation } from '../../../src/kube/remediation.ts';
import { imageWorld, podWorld } from './action-worlds.ts';
import { health, type World } from './world.ts';

const one = (uid: string, phase: string): Remediation =>
  ({ metadata: { uid, name: uid }, status: { phase } }) as unknown as Remediation;
const turns: [string, Remediation[], string][] = [
  ['nobody else is at work', [], 'go'],
  ['one with a smaller uid is about to act: it has the first turn', [one('a', 'Applying')], 'Busy'],
  ['one with a greater uid is about to act: it gives way, or has acted', [one('z', 'Applying')], 'wait'],
  ['one with a greater uid has acted', [one('z', 'Applied')], 'Busy'],
  ['one with a smaller uid has acted', [one('a', 'Applied')], 'Busy'],
];
for (const [name, rivals, want] of turns)
  test(`whose turn it is: ${name}`, () => {
    const turn = whoGoesFirst(one('m', 'Applying'), rivals);
    assert.equal(typeof turn === 'string' ? turn : turn.reason, want);
  });

/** A second proposal for the same workload, another action of other fields: nothing but the rule keeps the two apart. */
function alsoScaled(world: World): void {
  const { uid } = world.server.get('Deployment', 'shop', 'checkout')!.metadata;
  const action = { type: 'ScaleDeployment', scaleDeployment: { name: 'checkout', uid, replicas: 2 } };
  const { spec } = world.fix();
  world.server.seed('Remediation', 'shop', {
    metadata: { name: 'other' },
    spec: { ...spec, action, proposedBy: 'ben@example.com' },
  });
  world.server.change('Remediation', 'shop', world.fix().metadata.name, { spec: { proposedBy: 'ben@example.com' } });
}
const both = ({ server }: World) => server.list('Remediation') as unknown as Remediation[];

/** A process that does not see in time that another has begun, until it has begun itself. */
const late = (api: Api): Api => ({
  ...api,
  async list<T>(...args: Parameters<Api['list']>): Promise<T[]> {
    const all = (await api.list(...args)) as unknown as Remediation[];
    const areBoth = all.filter((fix) => phaseOf(fix) === 'Applying' || phaseOf(fix) === 'Applied').length > 1;
    return (args[0] === 'Remediation' && !areBoth
      ? all.filter((fix) => phaseOf(fix) === 'Approved')
      : all) as unknown as T[];
  },
});

for (const [name, make] of Object.entries({
  'a Deployment': imageWorld,
  'a pod and its Deployment': podWorld('Deployment'),
}))
  for (const order of ['one', 'the other'])
    test(`two proposals for ${name}, two processes, ${order} a moment ahead: one execution`, async () => {
      const world = make();
      alsoScaled(world);
      const sick = { readHealth: async () => health({ healthy: false }) };
      const first = world.start({}, sick);
      await world.clock.advance(4_000);
      first.stop();
      const names = both(world).map(({ metadata }) => metadata.name);
      // Each process has one of the two to itself: neither can hold the other back by its own lock.
      const only = (api: Api, mine: string): Api => ({
        ...late(api),
        async get<T>(...args: Parameters<Api['get']>): Promise<T | undefined> {
          const [{ kind, name }] = args;
          return kind === 'Remediation' && name !== mine ? undefined : ((await api.get(...args)) as T | undefined);
        },
      });
      for (const fix of names)
        world.server.change('Remediation', 'shop', fix, {
          spec: { approval: { state: 'Approved', by: 'ada@example.com' } },
        });
      for (const mine of order === 'one' ? names : names.toReversed()) {
        const { api, stop } = world.start();
        stop();
        world.start({}, { ...sick, api: only(api, mine) });
        await world.clock.advance(1);
      }
      await world.clock.advance(20_000);
      assert.equal(world.changes().length, 1, JSON.stringify(world.changes()));
      const ended = both(world)
        .map((fix) => [phaseOf(fix), conditionOf(fix, 'Failed')?.reason].join(' ').trim())
        .sort();
      assert.deepEqual(ended, ['Applied', 'Failed Busy']);
    });
