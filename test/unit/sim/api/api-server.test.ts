import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { anEvent, aNotice, aPod, aRemediation, aRevision, aWorkload } from '../../../contract/builders.ts';
import { microtasks, rig } from './rig.ts';

test('an answer needs no turn of the event loop, so virtual time never waits for it', async () => {
  const { api } = await rig();
  let answered = false;
  void api.create({ kind: 'ControllerRevision', namespace: 'shop' }, aRevision('a')).then(() => (answered = true));
  await microtasks();
  assert.equal(answered, true);
});

test('a refusal needs none either', async () => {
  const { api } = await rig();
  let refused = false;
  void api.delete({ kind: 'Pod', namespace: 'shop', name: 'x' }).catch(() => (refused = true));
  await microtasks();
  assert.equal(refused, true);
});

test('an Event is kept for an hour after it was last repeated', async () => {
  const { api, clock } = await rig();
  const names = async () => (await api.list('Event', 'shop')).map(({ metadata }) => metadata.name);
  for (const name of ['again', 'once']) await api.create({ kind: 'Event', namespace: 'shop' }, anEvent('shop', name));
  await clock.advance(30 * 60_000);
  await api.patch({ kind: 'Event', namespace: 'shop', name: 'again' }, 'merge', { count: 2 });
  await clock.advance(30 * 60_000);
  assert.deepEqual(await names(), ['again']);
  await clock.advance(30 * 60_000);
  assert.deepEqual(await names(), []);
});

test('the same source of chance gives the same names and uids', async () => {
  const made = async () => {
    let seed = 1;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const { api } = await rig({ random });
    return api.create({ kind: 'Pod', namespace: 'shop' }, { ...aPod(''), metadata: { generateName: 'web-' } });
  };
  assert.deepEqual(await made(), await made());
});

const maps = '/api/v1/namespaces/shop/configmaps';

test('it does not pretend to be a cluster: its version says that it is simulated', async () => {
  const { ask } = await rig();
  const { body } = await ask('GET', '/version');
  assert.match(String(body['gitVersion']), /tapfix-sim/);
  assert.match(String(body['gitTreeState']), /no RBAC, no admission policies, no CEL/);
});

test('whoever asks what somebody may do is told that nobody is asked here', async () => {
  const { ask } = await rig();
  const spec = { user: 'ada', resourceAttributes: { verb: 'delete', resource: 'namespaces' } };
  const { body } = await ask('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec });
  const { allowed, reason } = body['status'] as { allowed: boolean; reason: string };
  assert.equal(allowed, true);
  assert.match(reason, /no authorization/);
});

test('what it cannot do it refuses, instead of doing something like it', async () => {
  const { ask } = await rig();
  await ask('POST', maps, { metadata: { name: 'm' } });
  for (const contentType of ['application/strategic-merge-patch+json', 'application/apply-patch+yaml'])
    assert.equal((await ask('PATCH', `${maps}/m`, {}, { contentType })).status, 415);
  assert.equal((await ask('POST', maps, 'metadata: {name: y}', { contentType: 'application/yaml' })).status, 415);
  const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists' }] };
  const quota = { metadata: { name: 'q' }, spec: { hard: { pods: '1' }, scopeSelector } };
  assert.equal((await ask('POST', '/api/v1/namespaces/shop/resourcequotas', quota)).status, 422);
  const range = { metadata: { name: 'r' }, spec: { limits: [{ type: 'Container', max: { memory: '1Gi' } }] } };
  assert.equal((await ask('POST', '/api/v1/namespaces/shop/limitranges', range)).status, 422);
  const containers = [{ name: 'app', image: 'app:1' }];
  for (const more of [{ overhead: { cpu: '1m' } }, { resources: { limits: { cpu: '1' } } }]) {
    const pod = { metadata: { name: 'p' }, spec: { containers, ...more } };
    assert.equal((await ask('POST', '/api/v1/namespaces/shop/pods', pod)).status, 422);
  }
  assert.equal((await ask('DELETE', `${maps}/m`, { propagationPolicy: 'Foreground' })).status, 422);
  assert.equal((await ask('GET', `${maps}?watch=true&sendInitialEvents=true`)).status, 422);
});

test('the main file tells what differs from the real one', () => {
  const text = readFileSync(new URL('../../../../src/sim/api/api-server.ts', import.meta.url), 'utf8');
  for (const word of ['RBAC', 'admission polic', 'CEL', 'strategic merge', 'unknown fields', 'Foreground'])
    assert.ok(text.includes(word), word);
});

const odd: unknown[] = [null, -1, 1.5, '', 'x', [], {}, [null], [{}], { a: null }, { __proto__: null, constructor: 1 }];

/** The same object with one of its fields replaced by something odd, for every field and every odd thing. */
function* spoiled(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    const at = (inner: unknown): unknown =>
      Array.isArray(value)
        ? value.map((item, i) => (String(i) === key ? inner : (item as unknown)))
        : { ...value, [key]: inner };
    for (const instead of odd) yield at(instead);
    for (const deeper of spoiled((value as Record<string, unknown>)[key])) yield at(deeper);
  }
}

const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true };
const metadata = { name: 'x', labels: { a: 'b' }, annotations: { a: 'b' }, finalizers: ['a.b/c'], ownerReferences: [owner], generateName: 'x-', managedFields: [{ manager: 'm', fieldsV1: { 'f:spec': {} } }] }; // prettier-ignore
const base = '/api/v1/namespaces/shop';
const job = { metadata, spec: { template: { metadata: { labels: { a: 'b' } }, spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } }; // prettier-ignore

const bodies: [string, object][] = [
  [`${base}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } }],
  [
    `${base}/pods`,
    aPod('x', {
      nodeName: 'n',
      tolerations: [{ key: 'a' }],
      volumes: [{ name: 'v', configMap: { name: 'c' } }],
      initContainers: [
        {
          name: 'i',
          image: 'i',
          ports: [{ containerPort: 1 }],
          livenessProbe: { httpGet: {} },
          resources: { requests: { cpu: '1' }, limits: { cpu: '1' } },
        },
      ],
    }),
  ],
  [
    '/apis/apps/v1/namespaces/shop/deployments',
    aWorkload('Deployment', 'x', { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } }),
  ],
  ['/apis/apps/v1/namespaces/shop/statefulsets', aWorkload('StatefulSet', 'x')],
  ['/apis/apps/v1/namespaces/shop/controllerrevisions', aRevision('x')],
  ['/apis/batch/v1/namespaces/shop/jobs', job],
  ['/apis/batch/v1/namespaces/shop/cronjobs', { metadata, spec: { schedule: '* * * * *', jobTemplate: job } }],
  [`${base}/resourcequotas`, { metadata, spec: { hard: { pods: '9', 'requests.cpu': '9' }, scopes: ['BestEffort'] } }],
  [
    `${base}/persistentvolumeclaims`,
    { metadata, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  ],
  [
    `${base}/events`,
    {
      metadata,
      involvedObject: { kind: 'Pod', namespace: 'shop', name: 'p' },
      eventTime: null,
      source: { component: 'c' },
    },
  ],
  [
    '/apis/policy/v1/namespaces/shop/poddisruptionbudgets',
    {
      metadata,
      spec: {
        minAvailable: 1,
        selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
      },
    },
  ],
  [
    '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings',
    { metadata, roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'User', name: 'u' }] },
  ],
  [
    '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers',
    { metadata, spec: { maxReplicas: 1, scaleTargetRef: { kind: 'Deployment', name: 'd' } } },
  ],
  [
    '/apis/tapfix.dev/v1alpha1/namespaces/shop/remediations',
    aRemediation('x', 'me', { action: { type: 'DeleteResourceQuota', deleteResourceQuota: { name: 'q', uid: 'u' } } }),
  ],
  [
    '/apis/tapfix.dev/v1alpha1/namespaces/shop/notices',
    aNotice('x', { members: [{ namespace: 'a', name: 'b', uid: 'c' }] }),
  ],
  ['/api/v1/nodes', { metadata, spec: { taints: [] }, status: { conditions: [{ type: 'Ready' }] } }],
  ['/api/v1/namespaces', { metadata, spec: { finalizers: [] }, status: {} }],
  [
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    { spec: { user: 'u', groups: ['g'], resourceAttributes: { verb: 'get' } } },
  ],
];

/** What the server itself did not expect. */
const isAccident = ({ message = '' }: { message?: string }): boolean => message.startsWith('Internal error occurred');

for (const [path, body] of bodies) {
  test(`${path}: whatever is odd about an object, the server has a word for it`, async () => {
    const { ask } = await rig();
    for (const asked of spoiled(body)) {
      const { status, body: answer } = await ask('POST', path, asked);
      const about = `${JSON.stringify(asked)}: ${status} ${JSON.stringify(answer).slice(0, 300)}`;
      assert.ok([201, 400, 403, 404, 409, 422].includes(status) && !isAccident(answer), about);
      if (status === 201) await ask('DELETE', `${path}/${String((answer['metadata'] as { name: string })?.name)}`);
    }
  });

  if (path.includes('reviews')) continue;
  test(`${path}: whatever a patch does to an object, the server has a word for it`, async () => {
    const { ask } = await rig();
    // An owner that is not there would take it along.
    const { ownerReferences: _gone, ...kept } = (body as { metadata: Record<string, unknown> }).metadata;
    const own = { ...body, metadata: { ...kept, name: 'x' } };
    const made = await ask('POST', path, own);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const seen = new Set<number>();
    for (const asked of spoiled(own)) {
      for (const sub of ['', '/status']) {
        const answer = await ask('PATCH', `${path}/x${sub}`, asked, { contentType: 'application/merge-patch+json' });
        const about = `${JSON.stringify(asked)}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`;
        assert.ok([200, 400, 404, 409, 422].includes(answer.status) && !isAccident(answer.body), about);
        seen.add(answer.status);
      }
    }
    assert.ok(seen.has(200) && seen.has(400), [...seen].join());
  });
}

test('whatever is odd about a JSON patch, the server has a word for it', async () => {
  const { ask } = await rig();
  await ask('POST', `${base}/configmaps`, { metadata: { name: 'x' }, data: { k: 'v' } });
  for (const ops of spoiled([
    { op: 'add', path: '/data/a', value: 'b' },
    { op: 'move', from: '/data/k', path: '/data/b' },
  ])) {
    const { status, body } = await ask('PATCH', `${base}/configmaps/x?dryRun=All`, ops, {
      contentType: 'application/json-patch+json',
    });
    assert.ok(
      [200, 400, 422].includes(status) && !isAccident(body),
      `${JSON.stringify(ops)}: ${status} ${JSON.stringify(body)}`,
    );
  }
});

test('whatever is odd about a path or a query, the server has a word for it', async () => {
  const { ask } = await rig();
  const paths = ['', '/', '//', '/api', '/apis', '/api/v1', '/api/v1/', '/apis/apps', '/apis/apps/v1/', '/api/v1/namespaces//pods', '/api/v1/namespaces/shop/', '/api/v1/namespaces/shop/pods/%E0%A4', '/api/v1/namespaces/shop/pods/a/b/c', '/api/v1/pods/x', '/api/v1/namespaces/__proto__/pods', '/api/v1/namespaces/shop/__proto__', '/api/v1/namespaces/shop/pods/__proto__']; // prettier-ignore
  const queries = ['', '?limit=1&continue=e30', '?continue=bnVsbA', '?fieldSelector=%3D', '?labelSelector=!', '?labelSelector=a%20in', '?labelSelector=a%20in%20(', '?labelSelector=()', '?resourceVersion=-1', '?resourceVersionMatch=Zip&resourceVersion=1', '?limit=-5', '?watch=0']; // prettier-ignore
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'ZIP'])
    for (const path of paths)
      for (const query of queries) {
        const { status, body } = await ask(method, path + query, {});
        assert.ok(
          status >= 200 && status < 500 && !isAccident(body),
          `${method} ${path}${query}: ${status} ${JSON.stringify(body)}`,
        );
      }
});
