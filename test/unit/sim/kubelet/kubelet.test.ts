import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeObject } from '../../../../src/sim/common/shapes.ts';
import { runKubelet } from '../../../../src/sim/kubelet/kubelet.ts';
import { aCluster, aTemplate, aWorkload, conditions, namespace, waitingReasons } from '../cluster.ts';

test('behaviour by image, in code; an annotation goes first', async (t) => {
  const { create, advance, pods } = await aCluster(t, {
    behaviours: (_pod, { image }) => (image === 'shop/web:1.42' ? { do: 'exit', code: 1, afterMs: 300 } : undefined),
  });
  await create('Pod', { metadata: { name: 'bad' }, spec: aTemplate({ image: 'shop/web:1.42' }).spec });
  await create('Pod', { metadata: { name: 'good' }, spec: aTemplate({ image: 'shop/web:1.41' }).spec });
  const { metadata, spec } = aTemplate({ image: 'shop/web:1.42', behave: 'run' });
  await create('Pod', { metadata: { name: 'told', ...metadata }, spec });
  await advance(8);
  assert.deepEqual(waitingReasons(await pods()), ['CrashLoopBackOff', undefined, undefined]);
});

test('what an image does may change while it is tried: a demo can heal it', async (t) => {
  let isBroken = true;
  const { create, advance, pods } = await aCluster(t, {
    behaviours: () => (isBroken ? { do: 'exit', code: 1, afterMs: 300 } : undefined),
  });
  await create('Pod', { metadata: { name: 'web' }, spec: aTemplate().spec });
  await advance(8);
  isBroken = false;
  await advance(10);
  const [pod] = await pods();
  assert.equal(conditions(pod!)['Ready'], 'True');
  assert.equal(pod?.status?.containerStatuses?.[0]?.restartCount, 2);
});

test('a shorter back-off may be asked for', async (t) => {
  const { create, advance, pods } = await aCluster(t, { timing: { backoffMs: 1000, longestBackoffMs: 4000 } });
  await create('Pod', {
    metadata: { name: 'web', ...aTemplate({ behave: 'crash' }).metadata },
    spec: aTemplate().spec,
  });
  await advance(30);
  assert.ok((await pods())[0]!.status!.containerStatuses![0]!.restartCount >= 6);
});

test('a pod that is deleted is stopped and then really gone; its name may be taken again', async (t) => {
  const { api, create, clock, advance, pods, events } = await aCluster(t);
  const body = { metadata: { name: 'web' }, spec: aTemplate().spec };
  const first = await create('Pod', body);
  await advance(5);
  await api.delete({ kind: 'Pod', namespace, name: 'web' });
  await clock.advance(100);
  assert.ok((await pods())[0]?.metadata.deletionTimestamp, 'still there while it stops');
  await clock.advance(1_000);
  assert.deepEqual(await pods(), []);
  assert.equal((await events({ reason: 'Killing' }))[0]?.message, 'Stopping container app');
  const second = await create('Pod', body);
  await advance(5);
  assert.notEqual(second.metadata.uid, first.metadata.uid);
  assert.equal(conditions((await pods())[0]!)['Ready'], 'True');
});

test('nodes: as many as asked for, with what was asked for; a deleted one comes back', async (t) => {
  const taints = [{ key: 'sim', effect: 'NoSchedule' }];
  const { api, advance } = await aCluster(t, {
    nodes: [{ name: 'big', cpu: '64', memory: '256Gi', labels: { disk: 'ssd' }, taints }, { name: 'small' }],
  });
  const node = async (name: string): Promise<NodeObject | undefined> => api.get<NodeObject>({ kind: 'Node', name });
  const big = await node('big');
  assert.deepEqual(
    [big?.status?.allocatable?.['cpu'], big?.metadata.labels?.['disk'], big?.spec?.taints],
    ['64', 'ssd', taints],
  );
  assert.equal(conditions(big!)['Ready'], 'True KubeletReady');
  assert.equal((await node('small'))?.status?.allocatable?.['cpu'], '4');
  await api.delete({ kind: 'Node', name: 'small' });
  await advance(25);
  assert.equal(conditions((await node('small'))!)['Ready'], 'True KubeletReady');
});

test('heartbeats go on, and end when the signal aborts', async (t) => {
  const { api, clock } = await aCluster(t, { nodes: 1 });
  const stop = new AbortController();
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const kubelet = runKubelet({ api, clock, log, nodes: [{ name: 'extra' }], signal: stop.signal });
  assert.deepEqual(kubelet.nodes, ['extra']);
  assert.throws(() => kubelet.stopNode('node-1'), /there is no node node-1 here, only extra/);
  const beat = async (): Promise<string | undefined> =>
    (await api.get<NodeObject>({ kind: 'Node', name: 'extra' }))?.status?.conditions?.[0]?.lastHeartbeatTime;
  await clock.advance(0);
  const first = await beat();
  await clock.advance(11_000);
  assert.notEqual(await beat(), first);
  stop.abort();
  await kubelet.ended;
  const last = await beat();
  await clock.advance(30_000);
  assert.equal(await beat(), last);
});

test('a restarted kubelet does not start everything over', async (t) => {
  const { api, clock, create, pods } = await aCluster(t, { nodes: 1 });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const run = (): { stop: AbortController; ended: Promise<void> } => {
    const stop = new AbortController();
    const nodes = [{ name: 'extra', labels: { only: 'extra' } }];
    return { stop, ended: runKubelet({ api, clock, log, nodes, signal: stop.signal }).ended };
  };
  const first = run();
  await create(
    'Deployment',
    aWorkload({ behave: 'crash-after=20s', spec: { nodeSelector: { only: 'extra' } } }, { replicas: 1 }),
  );
  await clock.advance(40_000);
  const before = (await pods())[0]?.status?.containerStatuses?.[0];
  first.stop.abort();
  await first.ended;
  const second = run();
  await clock.advance(1_000);
  const after = (await pods())[0]?.status?.containerStatuses?.[0];
  assert.equal(before?.restartCount, 1);
  assert.deepEqual([after?.restartCount, after?.state], [before.restartCount, before.state]);
  second.stop.abort();
  await second.ended;
});
