import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import { aConfig } from '../../support/config.ts';
import { aRollout, type PodState } from '../../support/rollout.ts';

const ended = (message?: string) => ({
  reason: 'Error',
  exitCode: 2,
  startedAt: '2026-11-16T03:11:00Z',
  finishedAt: '2026-11-16T03:11:20Z',
  ...(message && { message }),
});
const crashed = (over: Partial<PodState> = {}, message?: string): PodState => ({
  restarts: 3,
  state: { waiting: { reason: 'CrashLoopBackOff' } },
  lastState: { terminated: ended(message) },
  ...over,
});
const withLogs = aConfig({ diagnosis: { logs: true } });
const restarts = '3 restarts of 1 pod';

const words: { name: string; pod: PodState; want: string[] }[] = [
  { name: 'none', pod: crashed(), want: [] },
  {
    name: 'short ones are shown, redacted',
    pod: crashed({}, 'cannot log in as ada@example.com:\n password=hunter2'),
    want: ['its last words: "cannot log in as [email]: password=[redacted]"'],
  },
  { name: 'long ones are cut', pod: crashed({}, 'x'.repeat(201)), want: [`its last words: "${'x'.repeat(199)}…"`] },
  { name: 'quotes in them end nothing', pod: crashed({}, 'no "db"'), want: [`its last words: "no 'db'"`] },
  {
    name: 'those that kubelet took from the log are the log',
    pod: crashed(
      { spec: { containers: [{ name: 'app', terminationMessagePolicy: 'FallbackToLogsOnError' }] } },
      'panic',
    ),
    want: [],
  },
];
for (const { name, pod, want } of words)
  test(`the last words of a container stand in the diagnosis, as its own: ${name}`, async () => {
    const { diagnosis, evidence } = (await aRollout({ pods: [pod] }).ask('CrashLoop'))!;
    assert.deepEqual(diagnosis.split('; ').slice(1), want);
    assert.deepEqual(evidence, [restarts]);
  });

const log = 'starting\nconnecting to postgres://app:hunter2@db/shop\npanic: no route to db\n';
const tail = ['last lines of the log of app:', '> starting', '> connecting to postgres://[redacted]@db/shop', '> panic: no route to db']; // prettier-ignore

const logs: { name: string; pod: PodState; of: string; logs: boolean; want: string[] }[] = [
  {
    name: 'of the one that crashed, while another waits',
    pod: crashed(),
    of: 'shop/web-2-0/app/previous',
    logs: true,
    want: tail,
  },
  {
    name: 'of the one that is down',
    pod: crashed({ state: { terminated: ended() } }),
    of: 'shop/web-2-0/app',
    logs: true,
    want: tail,
  },
  { name: 'not without the switch', pod: crashed(), of: 'shop/web-2-0/app/previous', logs: false, want: [] },
  { name: 'none when there is none', pod: crashed(), of: 'elsewhere', logs: true, want: [] },
];
for (const { name, pod, of, logs: isOn, want } of logs)
  test(`the log: ${name}`, async () => {
    const { server, ask } = aRollout({ pods: [pod] });
    server.logs.set(of, log);
    const derived = await ask('CrashLoop', { logs: server.client(), config: isOn ? withLogs : aConfig() });
    assert.deepEqual(derived?.evidence, [restarts, ...want]);
    assert.equal(
      server.calls.some(({ subresource }) => subresource === 'log'),
      isOn,
    );
  });

test('without a log reader, as the controller is, no log is asked for', async () => {
  const { server, ask } = aRollout({ pods: [crashed()] });
  assert.deepEqual((await ask('CrashLoop', { config: withLogs }))?.evidence, [restarts]);
  assert.ok(!server.calls.some(({ subresource }) => subresource === 'log'));
});

const failures: { name: string; error: Error; want: string[] }[] = [
  {
    name: 'a right that is missing is said',
    error: new ApiError('no', 403, 'Forbidden'),
    want: ['the log may not be read in shop (ClusterRole tapfix-logs)'],
  },
  { name: 'a node that is away is not', error: new ApiError('dial tcp', 500, 'InternalError'), want: [] },
  { name: 'nor a server that does not answer', error: new Unreachable('timeout'), want: [] },
];
for (const { name, error, want } of failures)
  test(`a log that cannot be read never keeps a card: ${name}`, async () => {
    const { server, ask } = aRollout({ pods: [crashed()] });
    const denied = { podLog: async () => Promise.reject(error) };
    assert.deepEqual((await ask('CrashLoop', { logs: denied, config: withLogs }))?.evidence, [restarts, ...want]);
    assert.ok(server);
  });

test('several containers that end are all named, the worst in the diagnosis', async () => {
  const proxy = { name: 'proxy', ready: false, restartCount: 1, state: { terminated: { ...ended(), exitCode: 139 } } };
  const app = { name: 'app', ready: false, restartCount: 4, state: { terminated: { ...ended(), exitCode: 143 } } };
  const done = { name: 'init', ready: false, restartCount: 0, state: { terminated: { ...ended(), exitCode: 0 } } };
  const { ask } = aRollout({ pods: [{ status: { containerStatuses: [proxy, app, done] } }] });
  const derived = await ask('CrashLoop');
  assert.equal(derived?.diagnosis, 'container app exits 143 (terminated, SIGTERM) after 20 s');
  assert.deepEqual(derived?.evidence, [
    '5 restarts of 1 pod',
    'container proxy exits 139 (segmentation fault, SIGSEGV) after 20 s, 1 restart',
  ]);
});

test('a StatefulSet whose first pod is not ready says who waits for it', async () => {
  const { server, ask } = aRollout();
  const labels = { app: 'db' };
  const { metadata } = server.seed('StatefulSet', 'shop', {
    metadata: { name: 'db' },
    spec: { replicas: 3, selector: { matchLabels: labels }, template: { metadata: { labels } } },
  });
  const { pod } = { pod: crashed() };
  server.seed('Pod', 'shop', {
    metadata: {
      name: 'db-0',
      labels,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: metadata.uid, controller: true },
      ],
    },
    status: {
      phase: 'Running',
      containerStatuses: [{ name: 'app', ready: false, restartCount: 3, state: pod.state, lastState: pod.lastState }],
    },
  });
  const evidence = (await ask('CrashLoop', {}, { kind: 'StatefulSet', name: 'db' }))!.evidence;
  assert.deepEqual(evidence, ['3 restarts of 1 pod', '2 other pods wait until db-0 is ready']);
});
