import assert from 'node:assert/strict';
import { test } from 'node:test';
import { health, quotaWorld, undoWorld, type World } from './world.ts';

/* Whoever looks at the target with kubectl describe sees what was decided about it, also where nothing came of it. */

const settled = 5_000;

const toldOf = ({ server }: World, wanted: string): unknown[] =>
  server
    .list('Event')
    .filter((event) => (event['involvedObject'] as { kind: string }).kind === wanted)
    .map((event) => event['reason']);

/** Proposed and rehearsed; then the world changes, and the approval comes. */
async function approvedAfter(world: World, change: (world: World) => unknown, over = {}): Promise<World> {
  world.start({}, over);
  await world.clock.advance(settled);
  change(world);
  world.approve();
  await world.clock.advance(40_000);
  return world;
}

const isHealthy = { readHealth: async () => health({ healthy: true }) };

test('a target that changed meanwhile is told of the approval and of its end', async () => {
  const world = await approvedAfter(undoWorld(), ({ server }) =>
    server.change('Deployment', 'shop', 'checkout', { spec: { template: { metadata: { labels: { new: 'one' } } } } }),
  );
  assert.equal(world.phase(), 'Failed');
  assert.deepEqual(toldOf(world, 'Deployment'), ['FixApproved', 'FixFailed']);
});

test('one that healed before the fix as well', async () => {
  const world = await approvedAfter(undoWorld(), () => undefined, isHealthy);
  assert.equal(world.phase(), 'Resolved');
  assert.deepEqual(toldOf(world, 'Deployment'), ['FixApproved', 'FixResolved']);
  const [event] = world.server.list('Event').filter(({ reason }) => reason === 'FixResolved');
  assert.match(String(event?.['message']), /already healthy, nothing changed/);
});

test('one that a guard protects as well: nothing else is done there', async () => {
  const world = await approvedAfter(undoWorld(), ({ server }) =>
    server.seed('Namespace', undefined, { metadata: { name: 'shop', labels: { 'tapfix.dev/protected': 'true' } } }),
  );
  assert.equal(world.phase(), 'Failed');
  assert.deepEqual(toldOf(world, 'Deployment'), ['FixApproved', 'FixFailed']);
});

const gone: [string, (world: World) => unknown][] = [
  ['is gone', ({ server }) => server.remove('ResourceQuota', 'shop', 'tight')],
  [
    'is another one of that name',
    ({ server }) => {
      server.remove('ResourceQuota', 'shop', 'tight');
      server.seed('ResourceQuota', 'shop', { metadata: { name: 'tight' }, spec: { hard: { pods: '1' } } });
    },
  ],
];
for (const [name, change] of gone)
  test(`what ${name} is not told, and that is no error`, async () => {
    const said: unknown[] = [];
    const say = (_fields: object, message: string): void => void said.push(message);
    const log = { debug: say, info() {}, warn: say, error: say };
    const world = await approvedAfter(quotaWorld(), change, { log });
    assert.match(world.phase() ?? '', /^(Failed|Resolved)$/);
    assert.deepEqual(toldOf(world, 'ResourceQuota'), []);
    assert.ok(toldOf(world, 'Remediation').includes('FixApproved'));
    assert.deepEqual(said, []);
  });

test('a target is not told of what nobody approved', async () => {
  const world = undoWorld();
  world.start();
  await world.clock.advance(31 * 60_000);
  assert.equal(world.phase(), 'Expired');
  assert.deepEqual(toldOf(world, 'Deployment'), []);
});

test('of what was not confirmed the target is told, too', async () => {
  const world = undoWorld();
  world.start({}, { derive: async () => ({ diagnosis: '', changed: [], evidence: [], rationale: 'no' }) });
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(3_000);
  assert.equal(world.phase(), 'Failed');
  const about = world.server
    .list('Event')
    .filter((event) => (event['involvedObject'] as { kind: string }).kind === 'Deployment');
  assert.deepEqual(
    about.map((event) => event['reason']),
    ['FixApproved', 'FixFailed'],
  );
});
