import { NotLeading } from '../../../src/kube/lease.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actions } from '../../../src/actions/table.ts';
import { createHistoryKeeper } from '../../../src/app/history-keeper.ts';
import { shardOf } from '../../../src/health/history-text.ts';
import { createHistory } from '../../../src/health/history.ts';
import { ApiError, type KubeObject } from '../../../src/kube/api.ts';
import { historyName, historyNames, type HistoryRole } from '../../../src/kube/history-maps.ts';
import { resources } from '../../../src/kube/resources.ts';
import { declaredRights } from '../../../src/manifests/rights-table.ts';
import { type Call, fakeServer } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aReplicaSet } from '../../support/views.ts';

const minute = 60_000;
const uid = (n: number): string => `6f1c1d5e-6a2b-4a6e-9a6e-${n.toString(16).padStart(12, '0')}`;
const mapOf = (role: HistoryRole, of: string): string => historyName(role, shardOf(of, 4));

/** What RBAC would say to an account of this role. */
function only(role: HistoryRole): (call: Call) => void {
  const rights = declaredRights(role, actions);
  return ({ verb, kind, name }) => {
    const { group, plural } = resources[kind];
    const isAllowed = rights.some(
      (right) =>
        right.verb === verb && right.group === group && right.resource === plural && (right.name ?? name) === name,
    );
    if (!isAllowed) throw new ApiError(`${role} cannot ${verb} ${kind} ${name}`, 403, 'Forbidden');
  };
}

/** The server with its ConfigMaps, and processes that come and go. */
function aScene({ missing = false } = {}) {
  const clock = fakeClock(Date.parse('2026-11-18T12:00:00Z'));
  const server = fakeServer(clock);
  const names = [...historyNames('watcher'), ...historyNames('controller'), 'tapfix-config'];
  if (!missing) for (const name of names) server.seed('ConfigMap', 'tapfix', { metadata: { name } });
  const lines: string[] = [];
  const note = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { debug: note, info: note, warn: note, error: note };
  function start(
    role: HistoryRole,
    {
      check = () => undefined,
      heardMs = clock.now,
      ...over
    }: { believes?: boolean; check?(): void; heardMs?(): number } = {},
  ) {
    const history = createHistory();
    const api = server.client({ authorize: only(role) });
    const keeper = createHistoryKeeper({
      api,
      clock,
      log,
      namespace: 'tapfix',
      role,
      history,
      heard: () => ({ replicaSets: heardMs(), sets: Number.NEGATIVE_INFINITY }),
      stableForMs: () => 30_000,
      ...over,
    });
    const end = new AbortController();
    let ended: Promise<void> | undefined;
    return {
      history,
      keeper,
      run: () => void (ended = keeper.run(end.signal, api.guardedBy(check))),
      async stop(): Promise<void> {
        end.abort();
        await ended;
      },
      observe: (of: string, over: Parameters<typeof aReplicaSet>[0] = {}) =>
        history.observe(aReplicaSet({ uid: of, ...over }), clock.now()),
      healthyMs: (of: string) => history.longestAvailableMs(of, clock.now()),
    };
  }
  const textOf = (name: string): string | undefined =>
    (server.get('ConfigMap', 'tapfix', name) as (KubeObject & { data?: Record<string, string> }) | undefined)?.data?.[
      'revisions'
    ];
  const writes = (): Call[] => server.calls.filter(({ verb }) => verb === 'patch');
  return { clock, server, lines, start, textOf, writes };
}

for (const role of ['watcher', 'controller'] as const)
  test(`the ${role} writes what has become healthy, into its own map only, and the next one knows it`, async () => {
    const { clock, start, textOf, writes } = aScene();
    const first = start(role);
    await first.keeper.load();
    first.run();
    first.observe(uid(1));
    await clock.advance(29_000);
    assert.equal(writes().length, 0, 'not healthy long enough');
    await clock.advance(1_000);
    assert.deepEqual(
      writes().map(({ name }) => name),
      [mapOf(role, uid(1))],
      'the one that changed',
    );
    assert.ok(textOf(mapOf(role, uid(1)))?.includes(uid(1)));
    const next = start(role);
    await next.keeper.load();
    assert.equal(next.healthyMs(uid(1)), 30_000);
    await first.stop();
  });

test('it is written again when a time has doubled, and not each minute', async () => {
  const { clock, start, writes } = aScene();
  const { keeper, run, observe, stop } = start('watcher');
  await keeper.load();
  run();
  observe(uid(1));
  await clock.advance(64 * minute);
  assert.equal(writes().length, 7, 'after 0.5, 1.5, 3, 6, 12, 24 and 48 minutes');
  await stop();
});

test('a clean stop writes what has grown since; a second one has nothing to write', async () => {
  const { clock, start, writes } = aScene();
  const { keeper, run, observe, stop } = start('watcher');
  await keeper.load();
  run();
  observe(uid(1));
  await clock.advance(minute + 30_000);
  await stop();
  assert.equal(writes().length, 2);
  const next = start('watcher');
  await next.keeper.load();
  assert.equal(next.healthyMs(uid(1)), minute + 30_000);
  next.run();
  await next.stop();
  assert.equal(writes().length, 2);
});

test('what runs counts until the cluster was last heard from', async () => {
  const { clock, start } = aScene();
  const beganMs = clock.now();
  const { keeper, run, observe, stop } = start('watcher', { heardMs: () => beganMs + 20_000 });
  await keeper.load();
  run();
  observe(uid(1));
  await clock.advance(10 * minute);
  await stop();
  const next = start('watcher');
  await next.keeper.load();
  assert.equal(next.healthyMs(uid(1)), 20_000);
});

test('a quiet cluster: what has been healthy long enough is read once more, and counts until then', async () => {
  const { clock, server, start } = aScene();
  const beganMs = clock.now();
  const { keeper, run, observe, stop } = start('watcher', { heardMs: () => beganMs });
  const { metadata } = server.seed('ReplicaSet', 'shop', {
    metadata: { name: 'checkout-1' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'checkout' } },
      template: {
        metadata: { labels: { app: 'checkout' } },
        spec: { containers: [{ name: 'app', image: 'shop/app:1' }] },
      },
    },
    status: { replicas: 2, availableReplicas: 2, readyReplicas: 2 },
  });
  await keeper.load();
  run();
  observe(metadata.uid, { namespace: 'shop', name: 'checkout-1' });
  observe(uid(2), { namespace: 'shop', name: 'gone' });
  await clock.advance(45_000);
  const next = start('watcher');
  await next.keeper.load();
  assert.deepEqual([next.healthyMs(metadata.uid), next.healthyMs(uid(2))], [30_000, 0]);
  await stop();
});

test('somebody else wrote in between: nothing of theirs is lost, and the longer time counts', async () => {
  const { clock, start } = aScene();
  const [one, other] = [start('watcher'), start('watcher')];
  const neighbour = Array.from({ length: 100 }, (_, n) => uid(n + 2)).find(
    (of) => shardOf(of, 4) === shardOf(uid(1), 4),
  )!;
  for (const { keeper } of [one, other]) await keeper.load();
  one.observe(uid(1));
  await clock.advance(10_000);
  other.observe(uid(1));
  other.observe(neighbour);
  one.run();
  other.run();
  await clock.advance(minute);
  await one.stop();
  await other.stop();
  const next = start('watcher');
  await next.keeper.load();
  assert.deepEqual([next.healthyMs(uid(1)), next.healthyMs(neighbour)], [minute + 10_000, minute]);
});

test('a process that no longer leads writes nothing, not even when it ends', async () => {
  const { clock, start, textOf } = aScene();
  let leads = true;
  function check(): void {
    if (!leads) throw new NotLeading('this replica does not lead', 1_000);
  }
  const { keeper, run, observe, stop } = start('watcher', { check });
  await keeper.load();
  run();
  observe(uid(1));
  await clock.advance(minute);
  leads = false;
  const before = textOf(mapOf('watcher', uid(1)));
  await clock.advance(10 * minute);
  await stop();
  assert.equal(textOf(mapOf('watcher', uid(1))), before);
});

test('a follower that becomes the leader adds what the other one wrote to what it saw itself', async () => {
  const { clock, start } = aScene();
  const [leader, follower] = [start('watcher'), start('watcher')];
  await leader.keeper.load();
  await follower.keeper.load();
  leader.run();
  leader.observe(uid(1));
  await clock.advance(5 * minute);
  follower.observe(uid(1));
  await leader.stop();
  await clock.advance(minute);
  await follower.keeper.load();
  assert.equal(follower.healthyMs(uid(1)), 5 * minute);
  await clock.advance(10 * minute);
  assert.equal(follower.healthyMs(uid(1)), 11 * minute);
});

test('lines that tapfix did not write are dropped, said with their number, and gone with the next write', async () => {
  const { clock, server, start, lines, textOf } = aScene();
  const name = historyName('watcher', 0);
  await server.client().patch({ kind: 'ConfigMap', namespace: 'tapfix', name }, 'merge', {
    data: { revisions: `all is well\n["${uid(1)}",1e15,1e15,0,0,0]\n` },
  });
  const { keeper, run, healthyMs, stop } = start('watcher');
  await keeper.load();
  assert.equal(healthyMs(uid(1)), 0);
  assert.deepEqual(lines, [
    'history has lines that tapfix did not write, dropped {"configMap":"tapfix-watcher-history-0","dropped":2}',
  ]);
  run();
  await clock.advance(minute);
  assert.equal(textOf(name), '');
  await stop();
});

test('without the ConfigMaps it says once what to do, and begins when they are there', async () => {
  const { clock, server, start, lines, textOf } = aScene({ missing: true });
  server.seed('Namespace', undefined, { metadata: { name: 'tapfix' } });
  const { keeper, run, observe, stop } = start('controller');
  await keeper.load();
  run();
  observe(uid(1));
  await clock.advance(5 * minute);
  assert.equal(lines.length, 1, lines.join('\n'));
  assert.match(lines[0]!, /apply the manifests again.*tapfix-controller-history-3/);
  for (const name of historyNames('controller')) server.seed('ConfigMap', 'tapfix', { metadata: { name } });
  await clock.advance(minute);
  assert.ok(textOf(mapOf('controller', uid(1)))?.includes(uid(1)));
  await stop();
});

test('a server that does not answer is said once, and nothing is lost', async () => {
  const { clock, server, start, lines } = aScene();
  const away = (): void => {
    throw new ApiError('etcd is away', 500, 'InternalError');
  };
  const { keeper, run, observe, stop } = start('watcher');
  server.hooks.before = away;
  await keeper.load();
  run();
  observe(uid(1));
  await clock.advance(3 * minute);
  assert.deepEqual(lines, ['history not read or written, trying again {"reason":"etcd is away"}']);
  delete server.hooks.before;
  await clock.advance(minute);
  await stop();
  const next = start('watcher');
  await next.keeper.load();
  assert.equal(next.healthyMs(uid(1)), 4 * minute);
});

test('a controller in one process with a watcher does not believe what watchers wrote', async () => {
  const { clock, start } = aScene();
  const watcher = start('watcher');
  await watcher.keeper.load();
  watcher.run();
  watcher.observe(uid(1));
  await clock.advance(minute);
  await watcher.stop();
  const both = start('watcher', { believes: false });
  await both.keeper.load();
  assert.equal(both.healthyMs(uid(1)), 0);
});
