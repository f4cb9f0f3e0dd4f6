import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../../src/kube/api.ts';
import { aRollout, type PodState, type RolloutOptions, waiting } from '../../../support/rollout.ts';

const good: PodState = { ready: true };
const ended = { reason: 'Error', exitCode: 1, startedAt: '2026-11-16T03:11:00Z', finishedAt: '2026-11-16T03:11:20Z' };
const wayOf = async (shop: ReturnType<typeof aRollout>, failureClass: string): Promise<string> => {
  const { action, rationale } = (await shop.ask(failureClass))!;
  return action ? JSON.stringify({ ...action, uid: undefined }).replace(/,"uid":"[^"]*"/, '') : rationale;
};

const restart = '{"type":"RolloutRestart","rolloutRestart":{"kind":"Deployment","name":"web"}}';
const probes: { name: string; options: RolloutOptions; want: string }[] = [
  { name: 'all run and none is ready', options: { pods: [{}, {}, {}] }, want: restart },
  {
    name: 'one restarted last week',
    options: {
      pods: [{}, {}, { restarts: 1, lastState: { terminated: { ...ended, finishedAt: '2026-11-09T03:00:00Z' } } }],
    },
    want: restart,
  },
  {
    name: 'Argo CD owns it: the annotation is in nobody’s manifests',
    options: {
      pods: [{}, {}, {}],
      deployment: { metadata: { annotations: { 'argocd.argoproj.io/tracking-id': 'x' } } },
    },
    want: restart,
  },
  { name: 'one is ready', options: { pods: [{}, {}, good] }, want: '1 of 3 pods is ready, so it is not all of them' },
  {
    name: 'one restarts',
    options: { pods: [{}, {}, { restarts: 1, lastState: { terminated: ended } }] },
    want: '1 of 3 pods restarts already',
  },
  { name: 'one is missing', options: { pods: [{}, {}] }, want: '2 pods of 3 run, not all' },
  {
    name: 'one does not run',
    options: { pods: [{}, {}, waiting('ContainerCreating')] },
    want: '2 pods of 3 run, not all',
  },
  {
    name: 'one is still starting',
    options: {
      pods: [
        {},
        {},
        {
          status: {
            containerStatuses: [{ name: 'app', ready: false, started: false, restartCount: 0, state: { running: {} } }],
          },
        },
      ],
    },
    want: '1 of 3 pods is still starting',
  },
  {
    name: 'paused',
    options: { pods: [{}, {}, {}], deployment: { spec: { paused: true } } },
    want: 'Deployment web is paused: a restart would not roll out.',
  },
];
for (const { name, options, want } of probes)
  test(`ProbeFailing, ${name}: ${want}`, async () =>
    assert.equal(await wayOf(aRollout(options), 'ProbeFailing'), want));

test('a restart says whom it helps, and how many pods it replaces how', async () => {
  const said = async (strategy: object | undefined, replicas = 3): Promise<string> => {
    const pods = Array.from({ length: replicas }, (): PodState => ({}));
    const shop = aRollout({ pods, deployment: { spec: { replicas, ...(strategy && { strategy }) } } });
    return (await shop.ask('ProbeFailing'))!.rationale;
  };
  const begins = 'Helps if pods hang, not if a dependency is down. Nothing near them changed in the last hour.';
  const ends = 'Nothing to undo: the new pods run what the old ones ran.';
  const rolling = (maxUnavailable: number | string) => ({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable } });
  assert.equal(await said(undefined), `${begins} 3 pods are replaced step by step. ${ends}`);
  assert.equal(
    await said({ type: 'Recreate' }),
    `${begins} 3 pods are replaced all at once: none runs until the new ones do. ${ends}`,
  );
  assert.equal(await said(rolling('100%')), `${begins} 3 pods are replaced, maybe all at once. ${ends}`);
  assert.equal(await said(rolling(3)), `${begins} 3 pods are replaced, maybe all at once. ${ends}`);
  assert.equal(await said(rolling('99%')), `${begins} 3 pods are replaced step by step. ${ends}`);
  assert.equal(
    await said({ type: 'Recreate' }, 1),
    `${begins} 1 pod is replaced: none runs until the new one does. ${ends}`,
  );
  assert.equal(await said(undefined, 1), `${begins} 1 pod is replaced. ${ends}`);
});

/** A Recreate Deployment that asked for something else than before, or a first revision, with the message of its kubelet. */
const unready = (message: string, options: RolloutOptions = {}) => {
  const shop = aRollout({ pods: [{}, {}, {}], ...options });
  shop.say('Unhealthy', `Readiness probe failed: ${message}`);
  return shop;
};
const refused8081 = 'Get "http://10.0.0.7:8081/": dial tcp 10.0.0.7:8081: connect: connection refused';
const readyBefore: PodState = {
  status: { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-11-16T03:10:00Z' }] },
};
const never = 'its pods were never ready, and the probe asks for what they do not serve: new pods would not either';
const probesInVain: { name: string; message: string; pods?: PodState[]; want: string }[] = [
  { name: 'a port that nobody listens on', message: refused8081, want: never },
  { name: 'HTTPS of an HTTP server', message: 'Get "https://10.0.0.7:8080/": http: server gave HTTP response to HTTPS client', want: never },
  { name: 'HTTP of an HTTPS server', message: 'Get "http://10.0.0.7:8443/": net/http: HTTP/1.x transport connection broken: malformed HTTP response "\\x15\\x03\\x01"', want: never },
  { name: 'a path that does not exist', message: 'HTTP probe failed with statuscode: 404', want: never },
  { name: 'a server that is overloaded', message: 'HTTP probe failed with statuscode: 429', want: restart },
  { name: 'a server that fails', message: 'HTTP probe failed with statuscode: 503', want: restart },
  { name: 'a port that they used to listen on', message: refused8081, pods: [readyBefore, readyBefore, readyBefore], want: restart },
  { name: 'a port that one of them never listened on', message: refused8081, pods: [readyBefore, readyBefore, {}], want: never },
]; // prettier-ignore
for (const { name, message, pods, want } of probesInVain)
  test(`a probe asks ${name}: ${want}`, async () =>
    assert.equal(await wayOf(unready(message, pods && { pods }), 'ProbeFailing'), want));

test('a probe that was refused until the container listened, and fails otherwise now: a restart', async () => {
  const shop = unready(refused8081);
  assert.equal(await wayOf(shop, 'ProbeFailing'), never);
  await shop.clock.advance(5_000);
  shop.say('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503');
  assert.equal(await wayOf(shop, 'ProbeFailing'), restart);
});

const policy = (over: object = {}) => ({ metadata: { name: 'deny-all', ...over }, spec: { podSelector: {} } });
const edited = (manager: string, time: string, field = 'f:spec') => ({
  managedFields: [{ manager, operation: 'Update', time, fieldsV1: { [field]: {} } }],
});
const [longAgo, lately] = ['2026-11-10T03:00:00Z', '2026-11-16T03:10:00Z'];
const nearby: { name: string; kind: 'NetworkPolicy' | 'Service' | 'ConfigMap'; object: object; want: string }[] = [
  { name: 'a NetworkPolicy that is new', kind: 'NetworkPolicy', object: policy({ creationTimestamp: lately }), want: 'NetworkPolicy deny-all created in the last hour, which a restart does not change' },
  { name: 'a NetworkPolicy that was edited', kind: 'NetworkPolicy', object: policy({ creationTimestamp: longAgo, ...edited('kubectl-edit', lately) }), want: 'NetworkPolicy deny-all edited (kubectl-edit) in the last hour, which a restart does not change' },
  { name: 'a NetworkPolicy that is old', kind: 'NetworkPolicy', object: policy({ creationTimestamp: longAgo, ...edited('kubectl', longAgo) }), want: restart },
  { name: 'a Service that was edited', kind: 'Service', object: { metadata: { name: 'db', creationTimestamp: longAgo, ...edited('kubectl-edit', lately) }, spec: { selector: { app: 'db' } } }, want: 'Service db edited (kubectl-edit) in the last hour, which a restart does not change' },
  { name: 'a Service of which only the status changed', kind: 'Service', object: { metadata: { name: 'db', creationTimestamp: longAgo, ...edited('cloud', lately, 'f:status') }, spec: {} }, want: restart },
  { name: 'a ConfigMap that nobody refers to', kind: 'ConfigMap', object: { metadata: { name: 'other', creationTimestamp: lately }, data: {} }, want: restart },
  { name: 'a ConfigMap of its own', kind: 'ConfigMap', object: { metadata: { name: 'web', creationTimestamp: longAgo, ...edited('helm', lately, 'f:data') }, data: {} }, want: 'ConfigMap web edited (helm) in the last hour, which a restart does not change' },
]; // prettier-ignore
for (const { name, kind, object, want } of nearby)
  test(`near its pods, ${name}: ${want}`, async () => {
    const shop = aRollout({
      pods: [{}, {}, {}],
      before: { envFrom: [{ configMapRef: { name: 'web' } }] },
      after: { envFrom: [{ configMapRef: { name: 'web' } }] },
      deployment: {
        metadata: { creationTimestamp: longAgo, annotations: { 'deployment.kubernetes.io/revision': '2' } },
      },
    });
    for (const set of ['web-1', 'web-2'])
      shop.server.change('ReplicaSet', 'shop', set, { metadata: { creationTimestamp: longAgo } });
    const { metadata } = shop.server.seed(kind, 'shop', object);
    const own = object as { metadata: object };
    shop.server.change(kind, 'shop', metadata.name, { metadata: { creationTimestamp: lately, ...own.metadata } });
    assert.equal(await wayOf(shop, 'ProbeFailing'), want);
  });

const forbidding = (what: string): Parameters<ReturnType<typeof aRollout>['server']['client']>[0] => ({
  authorize({ kind }) {
    if (kind === what) throw new ApiError('forbidden', 403, 'Forbidden');
  },
});
const unreadable: { kind: string; want: RegExp }[] = [
  { kind: 'NetworkPolicy', want: /^NetworkPolicies may not be read, so what changed near it is not known$/ },
  { kind: 'Service', want: /^Services may not be read, so what changed near it is not known$/ },
  {
    kind: 'ConfigMap',
    want: /Nothing near them changed in the last hour, as far as may be read \(not its ConfigMaps\)\./,
  },
];
for (const { kind, want } of unreadable)
  test(`what changed near its pods may not be read: ${kind}`, async () => {
    const { server, ask } = aRollout({
      pods: [{}, {}, {}],
      after: { envFrom: [{ configMapRef: { name: 'web' } }] },
      before: { envFrom: [{ configMapRef: { name: 'web' } }] },
    });
    assert.match((await ask('ProbeFailing', { reader: server.client(forbidding(kind)) }))!.rationale, want);
  });

test('a revision that is new, never was ready and changed its probe is not restarted', async () => {
  const probe = (port: number) => ({ readinessProbe: { httpGet: { port } } });
  const shop = aRollout({ pods: [{}, {}, {}], before: probe(8080), after: probe(8081), isOldKnown: false });
  shop.say('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503');
  assert.equal(
    await wayOf(shop, 'ProbeFailing'),
    'revision 1 was not seen healthy, so going back may not help; revision 2 is less than an hour old, and never was ready',
  );
});

test('a policy that came just before its pods became unready stands in the diagnosis, and with its time in what changed', async () => {
  const shop = aRollout({ pods: [readyBefore, readyBefore, readyBefore] });
  for (const set of ['web-1', 'web-2'])
    shop.server.change('ReplicaSet', 'shop', set, { metadata: { creationTimestamp: longAgo } });
  shop.server.seed('NetworkPolicy', 'shop', policy());
  shop.server.change('NetworkPolicy', 'shop', 'deny-all', { metadata: { creationTimestamp: '2026-11-16T03:09:30Z' } });
  shop.say('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503');
  const { diagnosis, changed } = (await shop.ask('ProbeFailing'))!;
  assert.equal(diagnosis, 'readiness probe: HTTP 503; NetworkPolicy deny-all created just before');
  assert.equal(changed[0], '2026-11-16T03:09:30.000Z NetworkPolicy deny-all created');
});
