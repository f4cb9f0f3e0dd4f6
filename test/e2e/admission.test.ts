import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { protectedLabel } from '../../src/actions/ownership.ts';
import type { Remediation } from '../../src/kube/remediation.ts';
import { accounts, userOf } from '../../src/manifests/manifest.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { aRemediation, quotaAction } from './support/remediation.ts';

/** What the API server itself refuses, once `kubectl apply --server-side -f deploy/manifests` was done. */
const manifests = join(import.meta.dirname, '../../deploy/manifests');
const uuid = '3f9a1c00-0000-4000-8000-000000000001';

let cluster: Cluster;
let shop: string; // where erin edits, ada approves and robot is a service account
let other: string; // another team's
let guarded: string; // labelled as protected
/** Kubeconfig by person. */
const as: Record<string, string> = {};

const watcher = userOf('tapfix', accounts.watcher);

const run = (who: string, args: string[], input?: object) =>
  cluster.kubectl(args, { kubeconfig: as[who]!, ...(input && { input: JSON.stringify(input) }) });
const refused = (who: string, args: string[], input?: object) =>
  cluster.kubectl(args, { kubeconfig: as[who]!, expectFailure: true, ...(input && { input: JSON.stringify(input) }) });
const { incident: anIncident } = aRemediation('').spec;
const keyed = (key: string) => ({ incident: { ...anIncident, key } });
const fix = (name: string, spec: object = {}, namespace = shop) =>
  aRemediation(name, { ...keyed(`${namespace}/ResourceQuota/limits`), ...spec });
const create = (namespace: string) => ['create', '-n', namespace, '-f', '-'];
const patch = (name: string, body: object, namespace = shop) => [
  'patch',
  'fix',
  name,
  '-n',
  namespace,
  '--type',
  'merge',
  '-p',
  JSON.stringify(body),
];
const approval = (name: string, body: object, namespace = shop) => patch(name, { spec: { approval: body } }, namespace);
const status = (name: string, body: object) => [...patch(name, { status: body }), '--subresource=status'];
const read = async (name: string) => (await cluster.get<Remediation>('remediations.tapfix.dev', shop, name))!;
const pending = async (name: string, namespace = shop) => {
  await run('admin', create(namespace), fix(name, {}, namespace));
  return name;
};
const bind = (namespace: string, role: string, subject: string) =>
  run('admin', [
    'create',
    'rolebinding',
    `b-${role}-${subject.replaceAll(/\W/g, '-')}`,
    '-n',
    namespace,
    `--clusterrole=${role}`,
    subject,
  ]);
/** Policies and rights take a moment to be in force. */
const untilRefused = (words: RegExp, attempt: () => Promise<string>) =>
  cluster.waitFor('a refusal', async () => (assert.match(await attempt().catch(String), words), true), 30_000);
const untilAllowed = (attempt: () => Promise<string>) => cluster.waitFor('to be allowed', attempt, 30_000);

before(async () => {
  cluster = await joinCluster();
  as.admin = cluster.kubeconfig;
  for (const _ of ['once', 'and again']) await run('admin', ['apply', '--server-side', '-f', manifests]);
  // Nobody else is to write here meanwhile.
  await run('admin', ['delete', 'deployments', '--all', '-n', 'tapfix']);
  await run('admin', ['wait', 'crd', 'remediations.tapfix.dev', '--for=condition=Established']);
  shop = await cluster.freshNamespace('shop');
  other = await cluster.freshNamespace('other');
  guarded = await cluster.freshNamespace('guarded');
  await run('admin', ['label', 'namespace', guarded, `${protectedLabel}=true`]);
  for (const user of ['erin', 'ada']) as[user] = await cluster.userKubeconfig(user);
  for (const [name, account] of Object.entries(accounts))
    as[name] = await cluster.serviceAccountKubeconfig('tapfix', account);
  await run('admin', ['create', 'serviceaccount', 'robot', '-n', shop]);
  as.robot = await cluster.serviceAccountKubeconfig(shop, 'robot');

  const writes = [
    '--verb=get,create,patch,update',
    '--resource=remediations.tapfix.dev,remediations.tapfix.dev/status',
  ];
  await run('admin', ['create', 'clusterrole', `fix-editor-${shop}`, ...writes]);
  for (const namespace of [shop, other]) await bind(namespace, `fix-editor-${shop}`, '--user=erin');
  await bind(other, `fix-editor-${shop}`, '--user=ada');
  await bind(shop, 'edit', '--user=erin');
  await bind(shop, 'tapfix-approver', '--user=ada');
  await bind(shop, 'tapfix-approver', `--serviceaccount=${shop}:robot`);
  // kubectl reads a status before it patches it; tapfix does not.
  await run('admin', [
    'create',
    'clusterrole',
    `status-reader-${shop}`,
    '--verb=get',
    '--resource=remediations.tapfix.dev/status',
  ]);
  for (const who of ['watcher', 'controller'])
    await bind(shop, `status-reader-${shop}`, `--serviceaccount=tapfix:tapfix-${who}`);
  // Far more than tapfix ever mints: what is refused to the writer here, the policy refuses, not RBAC.
  for (const namespace of [shop, guarded])
    await bind(namespace, 'cluster-admin', '--serviceaccount=tapfix:tapfix-writer');

  const canary = await pending('canary');
  const decided = [...approval(canary, { state: 'Approved' }), '--dry-run=server'];
  await untilRefused(/may not propose/, () => run('erin', [...create(shop), '--dry-run=server'], fix('c')));
  await untilRefused(/may not decide/, () => run('erin', decided));
  await untilRefused(/no action of tapfix/, () =>
    run('writer', ['create', 'configmap', 'c', '-n', shop, '--dry-run=server']),
  );
  await untilAllowed(() => run('ada', decided));
});
after(async () => {
  const namespaces = [shop, other, guarded].filter((name) => name !== undefined);
  const roles = ['fix-editor', 'status-reader'].map((role) => `${role}-${shop}`);
  await cluster?.kubectl(['delete', 'clusterrole', '--ignore-not-found', ...roles]);
  await cluster?.kubectl(['delete', 'namespace', '--wait=false', '--ignore-not-found', 'none', ...namespaces]);
});

test('who may edit everything in a namespace can neither propose nor decide in it', async (t) => {
  const name = await pending('edited');
  const elsewhere = await pending('elsewhere', other);
  const approved = { approval: { state: 'Approved', by: 'erin' }, proposedBy: 'erin' };
  const cases: [string, string[], object | undefined, RegExp][] = [
    [
      'creating',
      create(shop),
      fix('x', { proposedBy: 'erin' }),
      /user "erin" may not propose a Remediation in namespace shop-\w+: that takes the verb "propose"/,
    ],
    ['creating it approved', create(shop), fix('x', approved), /user "erin" may not propose/],
    [
      'editing the action',
      patch(name, { spec: { action: { deleteResourceQuota: { name: 'theirs' } } } }),
      undefined,
      /spec\.action cannot be changed after creation/,
    ],
    [
      'removing the action',
      patch(name, { spec: { action: null } }),
      undefined,
      /spec\.action cannot be changed after creation/,
    ],
    [
      'editing the time to live',
      patch(name, { spec: { ttlMinutes: 60 } }),
      undefined,
      /spec\.ttlMinutes cannot be changed after creation/,
    ],
    [
      'adding what it follows',
      patch(name, { spec: { follows: { name: 'a', uid: 'b' } } }),
      undefined,
      /spec\.follows cannot be changed/,
    ],
    [
      'deciding',
      approval(name, { state: 'Approved' }),
      undefined,
      /user "erin" may not decide in namespace shop-\w+: that takes the verb "approve"/,
    ],
    [
      'deciding for somebody',
      approval(name, { state: 'Approved', by: 'ada' }),
      undefined,
      /user "erin" may not decide/,
    ],
    [
      "deciding in another team's namespace",
      approval(elsewhere, { state: 'Rejected' }, other),
      undefined,
      /user "erin" may not decide in namespace other-/,
    ],
    [
      'writing the phase',
      status(name, { phase: 'Proposed' }),
      undefined,
      /user "erin" may not change more of the status .* takes the verb "control"/,
    ],
    [
      'writing sightings',
      status(name, { sightings: { count: 1, lastSeen: '2026-11-16T10:00:00Z' } }),
      undefined,
      /may not change sightings .* takes the verb "observe"/,
    ],
    [
      'acknowledging for somebody',
      patch(name, { metadata: { annotations: { 'tapfix.dev/acknowledged-by': 'ada' } } }),
      undefined,
      /acknowledged-by must name who sets it, "erin", not "ada"/,
    ],
  ];
  for (const [what, args, input, words] of cases) {
    await t.test(what, async () => assert.match(await refused('erin', args, input), words));
  }
  await run('erin', patch(name, { metadata: { annotations: { 'tapfix.dev/acknowledged-by': 'erin' } } }));
  await run('erin', patch(name, { metadata: { annotations: { 'tapfix.dev/acknowledged-by': null } } }));
});

test('who may propose creates it undecided, without a status, in its own name', async () => {
  const approved = { state: 'Approved', by: 'telegram:123' };
  const inOwnName = { proposedBy: watcher };
  assert.match(
    await refused('watcher', create(shop), fix('x', { ...inOwnName, approval: approved })),
    /created undecided/,
  );
  assert.match(
    await refused('watcher', create(shop), fix('x')),
    /proposedBy must be who creates it, "system:serviceaccount:tapfix:tapfix-watcher", not "admin"/,
  );
  await run('watcher', create(shop), { ...fix('born', inOwnName), status: { phase: 'Recovered' } });
  assert.equal((await read('born')).status, undefined);
  const notice = { channel: 'console', chat: '', members: [], form: 'card' };
  const body = { apiVersion: 'tapfix.dev/v1alpha1', kind: 'Notice', metadata: { name: 'n1' }, spec: notice };
  await run('watcher', [...create('tapfix'), '--dry-run=server'], body);
  assert.match(await refused('watcher', create(shop), body), /cannot create resource "notices"/);
});

test('an approver decides with kubectl alone, once, in the namespaces it was bound in', async () => {
  const name = await pending('kubectl');
  assert.match(
    await refused('ada', approval(name, { state: 'Approved', by: 'erin' })),
    /approval\.by must be who decides, "ada", not "erin"/,
  );
  assert.match(await refused('ada', approval(name, { state: 'Approved', by: 'telegram:1' })), /must be who decides/);
  assert.match(await refused('ada', approval(name, { by: 'ada' })), /set together with a decision/);
  await run('ada', approval(name, { state: 'Approved' }));
  assert.deepEqual((await read(name)).spec.approval, { state: 'Approved', by: 'ada', via: 'kubernetes' });
  for (const who of ['ada', 'admin', 'watcher']) {
    assert.match(
      await refused(who, approval(name, { state: 'Rejected', by: who })),
      /already Approved by ada: a decision is made once/,
    );
  }
  const elsewhere = await pending('not-adas', other);
  assert.match(
    await refused('ada', approval(elsewhere, { state: 'Approved' }, other)),
    /user "ada" may not decide in namespace other-/,
  );
});

test('a cluster-admin decides in its own name; a service account does not, whatever it may', async () => {
  await run('admin', approval(await pending('admins'), { state: 'Approved', by: 'admin' }));
  await run('admin', approval(await pending('admins-too'), { state: 'Rejected', note: 'not now' }));
  assert.equal((await read('admins-too')).spec.approval.by, 'admin');
  const name = await pending('robots');
  const robot = userOf(shop, 'robot');
  assert.match(
    await refused('robot', approval(name, { state: 'Approved', by: robot })),
    /service account ".*:robot" may not decide: people do/,
  );
  assert.match(await refused('robot', approval(name, { state: 'Approved', by: 'slack:U1' })), /may not decide: people/);
  assert.match(await refused('robot', approval(name, { state: 'Approved' })), /must say whose it is/);
});

test('the watcher records chat identities and sightings, and nothing else', async () => {
  const name = await pending('chat');
  for (const by of ['ada', watcher, 'Telegram:1']) {
    assert.match(await refused('watcher', approval(name, { state: 'Approved', by })), /must be who decides/);
  }
  const lastSeen = '2026-11-16T10:00:00Z';
  const condition = (type: string) => ({
    type,
    status: 'True',
    reason: 'R',
    message: '',
    lastTransitionTime: lastSeen,
  });
  await run('watcher', approval(name, { state: 'Approved', by: 'telegram:123', via: 'telegram' }));
  await run(
    'watcher',
    patch(name, {
      metadata: { annotations: { 'tapfix.dev/acknowledged-by': 'slack:U1', 'tapfix.dev/snoozed-until': lastSeen } },
    }),
  );
  await run('watcher', status(name, { sightings: { count: 1, lastSeen }, conditions: [condition('IncidentCleared')] }));
  assert.match(await refused('watcher', status(name, { phase: 'Proposed' })), /takes the verb "control"/);
  assert.match(
    await refused('watcher', status(name, { preview: { diff: '', targetHash: '', at: lastSeen } })),
    /takes the verb "control"/,
  );
  const both = [condition('IncidentCleared'), condition('Confirmed')];
  assert.match(await refused('watcher', status(name, { conditions: both })), /takes the verb "control"/);
  const since = [condition('IncidentCleared'), condition('SeenCleared')];
  assert.match(await refused('watcher', status(name, { conditions: since })), /takes the verb "control"/);
  await run('controller', status(name, { conditions: both, phase: 'Proposed' }));
  assert.match(
    await refused('controller', status(name, { conditions: [condition('Confirmed')] })),
    /takes the verb "observe"/,
  );
  assert.match(
    await refused('controller', status(name, { sightings: { count: 2, lastSeen } })),
    /takes the verb "observe"/,
  );
  assert.match(await refused('watcher', ['get', 'secrets', '-n', 'tapfix']), /cannot list resource "secrets"/);
});

test('a key names the namespace of its own record, whoever writes it', async (t) => {
  const strangers = [
    `${other}/ResourceQuota/limits`,
    'tapfix/Node/worker-1',
    'limits',
    `${shop}-b/Deployment/web`,
    shop,
  ];
  for (const who of ['admin', 'watcher'])
    for (const key of strangers)
      await t.test(`${who}: ${key.replace(/-\w{5}/g, '')}`, async () => {
        const spec = { ...keyed(key), proposedBy: who === 'watcher' ? watcher : who };
        assert.match(
          await refused(who, create(shop), fix('foreign', spec)),
          /spec\.incident\.key must begin with its own namespace, "shop-\w+\/", not "/,
        );
      });
  await run('admin', create('tapfix'), fix('node-1', { ...keyed('tapfix/Node/worker-1'), action: undefined }));
  await run('admin', ['delete', 'fix', 'node-1', '-n', 'tapfix']);
});

test('a time that no rule could read is refused everywhere, so that the record can be written again', async () => {
  const wedging = '2026-01-01T10:00:00+99:99';
  const spec = { incident: { ...fix('x').spec.incident, firstSeen: wedging } };
  assert.match(await refused('admin', create(shop), fix('wedged', spec)), /spec\.incident\.firstSeen: Invalid value/);
  const name = await pending('not-wedged');
  const decision = { state: 'Approved', by: 'telegram:123', at: wedging };
  assert.match(await refused('watcher', approval(name, decision)), /spec\.approval\.at: Invalid value/);
  const sightings = { count: 1, lastSeen: wedging };
  assert.match(await refused('watcher', status(name, { sightings })), /status\.sightings\.lastSeen: Invalid value/);
  const cleared = { type: 'IncidentCleared', status: 'True', reason: 'R', message: '', lastTransitionTime: wedging };
  assert.match(await refused('watcher', status(name, { conditions: [cleared] })), /lastTransitionTime: Invalid value/);
  await run('watcher', status(name, { sightings: { count: 1, lastSeen: new Date().toISOString() } }));
  await run('watcher', approval(name, { ...decision, at: '2026-01-01T10:00:00.123456+05:30' }));
});

test('the record of a decision is neither given to an owner nor made undeletable, and garbage collection still works', async () => {
  const name = await pending('kept-record');
  const ghost = { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'f3c1a000-0000-4000-8000-000000000001' };
  for (const who of ['ada', 'watcher', 'erin'])
    for (const metadata of [{ ownerReferences: [ghost] }, { finalizers: ['example.com/stay'] }])
      assert.match(await refused(who, patch(name, { metadata })), /has no owner and no finalizer/);
  await run('admin', ['delete', 'fix', name, '-n', shop, '--cascade=foreground', '--timeout=30s']);
  assert.equal(await read(name), undefined);
});

test('the controller moves the phase along the listed transitions only', async () => {
  const name = await pending('phases');
  assert.match(
    await refused('controller', status(name, { phase: 'Applied' })),
    /status\.phase cannot go from "" to "Applied"/,
  );
  for (const phase of ['Proposed', 'Approved', 'Applying', 'Applied', 'Failed', 'Recovered']) {
    await run('controller', status(name, { phase }));
    assert.match(
      await refused('controller', status(name, { phase: 'Noticed' })),
      new RegExp(`from "${phase}" to "Noticed"`),
    );
  }
  assert.match(await refused('controller', status(name, { phase: null })), /cannot go from "Recovered" to ""/);
  assert.match(await refused('controller', approval(name, { state: 'Approved', by: 'ada' })), /cannot patch resource/);
});

test('the schema refuses what no card or action could be made of', async (t) => {
  const undo = { type: 'RolloutUndo', rolloutUndo: { kind: 'Deployment', name: 'api', uid: 'u', toRevision: 3 } };
  const cases: [string, object, RegExp][] = [
    ['a bell in the diagnosis', { diagnosis: 'ring \u0007' }, /spec\.diagnosis: Invalid value/],
    ['a null byte in the rationale', { rationale: 'end\u0000' }, /spec\.rationale: Invalid value/],
    [
      'an escape in the evidence',
      { context: { changed: [], evidence: ['\u001b[2J'] } },
      /spec\.context\.evidence\[0\]/,
    ],
    [
      'the params of another action',
      { action: { ...undo, type: 'DeleteResourceQuota' } },
      /spec\.action\.deleteResourceQuota is required by type DeleteResourceQuota/,
    ],
    [
      'two blocks of params',
      { action: { ...quotaAction, ...undo } },
      /spec\.action\.deleteResourceQuota is required by type DeleteResourceQuota and belongs to no other/,
    ],
    ['an action there is not', { action: { type: 'RunScript' } }, /Unsupported value: "RunScript"/],
    ['a decision that can be waited for all day', { ttlMinutes: 61 }, /should be less than or equal to 60/],
    ['a novel', { rationale: 'x'.repeat(2049) }, /may not be more than 2048/],
    [
      'an escape in a name',
      { action: { type: 'DeleteResourceQuota', deleteResourceQuota: { name: 'li\u001bmits', uid: 'u-1' } } },
      /spec\.action\.deleteResourceQuota\.name/,
    ],
  ];
  for (const [what, spec, words] of cases) {
    await t.test(what, async () => assert.match(await refused('admin', create(shop), fix('x', spec)), words));
  }
  await run('admin', create(shop), fix('undo', { action: undo, diagnosis: 'two\nlines\tof it' }));
});

test('a person who proposes may leave out what has a default', async () => {
  const { metadata, spec, ...rest } = fix('short');
  const { incident, action, proposedBy } = spec;
  await run('admin', create(shop), { ...rest, metadata, spec: { incident, action, proposedBy } });
  const { approval, ttlMinutes, context, rationale } = (await read('short')).spec;
  assert.deepEqual(
    { approval, ttlMinutes, context, rationale },
    { approval: { state: 'Pending' }, ttlMinutes: 30, context: { changed: [], evidence: [] }, rationale: '' },
  );
});

test('once something became of it there is nothing to decide', async () => {
  const name = await pending('past');
  for (const phase of ['Proposed', 'Expired']) await run('controller', status(name, { phase }));
  for (const who of ['ada', 'admin', 'watcher'])
    assert.match(
      await refused(who, approval(name, { state: 'Approved', by: who === 'watcher' ? 'telegram:1' : who })),
      /there is nothing to decide any more: it is Expired/,
    );
});

test('kubectl shows what matters, under the short names', async () => {
  await run('admin', approval(await pending('shown'), { state: 'Rejected', by: 'admin' }));
  for (const short of ['fix', 'rem']) {
    const [head, row] = (await run('admin', ['get', short, 'shown', '-n', shop])).trim().split('\n');
    assert.deepEqual(head?.split(/\s+/), [
      'NAME',
      'CLASS',
      'SEVERITY',
      'TARGET',
      'ACTION',
      'PHASE',
      'READY',
      'BY',
      'AGE',
    ]);
    assert.match(row ?? '', /^shown +QuotaExceeded +critical +limits +DeleteResourceQuota +admin +\d+s$/);
  }
});

test('the writer, though bound to cluster-admin, can do what the actions do and no more', async (t) => {
  const made = (args: string[], namespace = shop) => run('admin', ['create', ...args, '-n', namespace]);
  const nothing = ['create', 'deployment', 'api', '--image=localhost/app:1.0', '--replicas=0', '-n'];
  for (const namespace of [shop, guarded]) await run('admin', [...nothing, namespace]);
  for (const quota of ['free', 'kept']) await made(['quota', quota, '--hard=services=9']);
  await made(['quota', 'theirs', '--hard=services=9'], guarded);
  await run('admin', ['label', 'quota', 'kept', '-n', shop, `${protectedLabel}=true`]);
  const set = async () => (await run('admin', ['get', 'replicasets', '-n', shop, '-o', 'name'])).trim();
  const replicaSet = await cluster.waitFor('the ReplicaSet', set, 20_000);
  const cases: [string, string[], RegExp][] = [
    [
      'creating anything',
      ['create', 'configmap', 'x', '-n', shop],
      /tapfix-writer may not CREATE \/configmaps: no action of tapfix does that/,
    ],
    ['deleting a Deployment', ['delete', 'deployment', 'api', '-n', shop], /may not DELETE apps\/deployments/],
    [
      'deleting all quotas at once',
      ['delete', '--raw', `/api/v1/namespaces/${shop}/resourcequotas`],
      /may not DELETE ALL \/resourcequotas/,
    ],
    ['scaling', ['scale', 'deployment', 'api', '--replicas=1', '-n', shop], /may not UPDATE apps\/deployments\/scale/],
    ['changing a quota', ['annotate', 'quota', 'free', 'a=b', '-n', shop], /may not UPDATE \/resourcequotas/],
    [
      'deleting a protected quota',
      ['delete', 'quota', 'kept', '-n', shop],
      /resourcequotas kept is protected by its label/,
    ],
    ['a protected namespace', ['delete', 'quota', 'theirs', '-n', guarded], /namespace guarded-\w+ is protected/],
    [
      'a change that protects',
      ['label', 'deployment', 'api', `${protectedLabel}=true`, '-n', shop],
      /protected by its label/,
    ],
    [
      'a nudge that scales',
      ['patch', replicaSet, '-n', shop, '-p', '{"spec":{"replicas":5}}'],
      /tapfix-writer may change only annotations/,
    ],
    ['a nudge that labels', ['label', replicaSet, '-n', shop, 'a=b'], /tapfix-writer may change only annotations/],
    [
      'an undo that scales',
      [
        'patch',
        'deployment/api',
        '-n',
        shop,
        '-p',
        '{"spec":{"replicas":5,"template":{"metadata":{"labels":{"a":"b"}}}}}',
      ],
      /apps\/deployments api: tapfix-writer may change only annotations and spec\.template or spec\.replicas/,
    ],
    [
      'a scaling beyond fifty',
      ['patch', 'deployment/api', '-n', shop, '-p', '{"spec":{"replicas":51}}'],
      /apps\/deployments api: tapfix-writer scales to 50 replicas at most/,
    ],
    [
      'an undo that pauses',
      ['patch', 'deployment/api', '-n', shop, '-p', '{"spec":{"paused":true}}'],
      /may change only annotations and spec\.template/,
    ],
    [
      'an undo that labels',
      ['label', 'deployment/api', '-n', shop, 'a=b'],
      /may change only annotations and spec\.template/,
    ],
    [
      'an undo that keeps it from being deleted',
      ['patch', 'deployment/api', '-n', shop, '-p', '{"metadata":{"finalizers":["a.b/c"]}}'],
      /may change only annotations and spec\.template/,
    ],
  ];
  for (const [what, args, words] of cases) {
    await t.test(what, async () => assert.match(await refused('writer', args), words));
  }
  await run('writer', ['annotate', replicaSet, '-n', shop, 'tapfix.dev/nudge=1']);
  await run('writer', ['delete', 'quota', 'free', '-n', shop]);
  await run('writer', ['patch', 'deployment/api', '-n', shop, '--dry-run=server', '-p', '{"spec":{"replicas":50}}']);
  await run('writer', ['set', 'image', 'deployment/api', '*=localhost/app:2.0', '-n', shop]);
  await run('admin', [
    'create',
    'rolebinding',
    'writer-here',
    '--clusterrole=admin',
    '--serviceaccount=tapfix:tapfix-writer',
    '-n',
    'kube-system',
  ]);
  const annotate = ['annotate', 'deployment', 'any', 'a=b', '-n', 'kube-system'];
  await run('admin', ['create', 'deployment', 'any', '--image=localhost/app:1.0', '--replicas=0', '-n', 'kube-system']);
  await untilRefused(/namespace kube-system is protected/, () => run('writer', annotate));
  await run('admin', ['delete', 'deployment/any', 'rolebinding/writer-here', '-n', 'kube-system']);
});

test('the controller binds the writer to the writer roles, under our name, and does nothing else to rights', async () => {
  const binding = (name: string, role: string, subject: string) => [
    'create',
    'rolebinding',
    name,
    '-n',
    shop,
    `--clusterrole=${role}`,
    `--serviceaccount=${subject}`,
  ];
  const ours = 'tapfix:tapfix-writer';
  const quotas = 'tapfix-writer-quotas';
  assert.match(await refused('controller', binding('mine', quotas, ours)), /only RoleBindings named tapfix-<uid/);
  assert.match(
    await refused('controller', binding(`tapfix-${uuid}`, quotas, `${shop}:robot`)),
    /one subject, the service account tapfix-writer/,
  );
  assert.match(await refused('controller', [...binding(`tapfix-${uuid}`, quotas, ours), '--user=erin']), /one subject/);
  assert.match(await refused('controller', binding(`tapfix-${uuid}`, 'edit', ours)), /forbidden/);
  assert.match(
    await refused('controller', ['delete', 'rolebinding', '-n', shop, 'b-edit---user-erin']),
    /only RoleBindings named/,
  );
  await run('controller', binding(`tapfix-${uuid}`, quotas, ours));
  await run('controller', ['delete', 'rolebinding', '-n', shop, `tapfix-${uuid}`]);
  await run('controller', ['create', 'token', 'tapfix-writer', '-n', 'tapfix']);
  assert.match(
    await refused('controller', ['create', 'token', 'tapfix-watcher', '-n', 'tapfix']),
    /cannot create resource "serviceaccounts\/token"/,
  );
});

test('what a role has seen healthy is written by that role alone, and within bounds', async () => {
  const map = (name: string, data: object = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'tapfix' },
    data,
  });
  const write = (role: string, data: object = { revisions: '' }) => {
    const args = ['patch', 'configmap', `tapfix-${role}-history-0`, '-n', 'tapfix', '--type', 'merge'];
    return [...args, '--dry-run=server', '-p', JSON.stringify({ data })];
  };
  const known = { revisions: '["6f1c1d5e",1,1,0,0,0,0]\n' };
  for (const [who, whose] of [
    ['watcher', 'controller'],
    ['controller', 'watcher'],
  ] as const) {
    await run(who, write(who, known));
    assert.match(await refused(who, write(whose, known)), /cannot (get|patch) resource "configmaps"/);
  }
  // With rights to all ConfigMaps there, it is the policy that refuses.
  const subjects = [
    '--user=erin',
    '--serviceaccount=tapfix:tapfix-watcher',
    '--serviceaccount=tapfix:tapfix-controller',
  ];
  const editors = ['rolebinding', `editors-${shop}`, '-n', 'tapfix'];
  await run('admin', ['create', ...editors, '--clusterrole=edit', ...subjects]);
  try {
    const label = ['label', 'configmap', 'tapfix-watcher-history-0', '-n', 'tapfix', 'a=b', '--dry-run=server'];
    await untilAllowed(() => run('erin', label));
    const lacks = (whose: string, verb: string): RegExp =>
      new RegExp(`may not write what the ${whose} has seen in namespace tapfix: that takes the verb "${verb}"`);
    for (const who of ['erin', 'controller'])
      await untilRefused(lacks('watcher', 'observe'), () => run(who, write('watcher', known)));
    for (const who of ['erin', 'watcher'])
      await untilRefused(lacks('controller', 'control'), () => run(who, write('controller', known)));
    const remake = ['create', '-f', '-', '-n', shop, '--dry-run=server'];
    const elsewhere = map('tapfix-watcher-history-0', { anything: 'goes' });
    await run('erin', remake, { ...elsewhere, metadata: { name: elsewhere.metadata.name } });
    await run('erin', ['create', 'configmap', 'theirs', '-n', 'tapfix', '--from-literal=a=b', '--dry-run=server']);
  } finally {
    await run('admin', ['delete', ...editors]);
  }
  await run('admin', write('watcher', known));
  await run('admin', write('controller', known));
  const replace = ['replace', '-f', '-', '--dry-run=server'];
  const bounds = /holds nothing but revisions, of 600000 characters at most/;
  await run('admin', replace, map('tapfix-watcher-history-0', { revisions: 'x'.repeat(600_000) }));
  for (const data of [{ revisions: 'x'.repeat(600_001) }, { other: '' }, { revisions: '', other: '' }])
    for (const role of ['watcher', 'controller'])
      assert.match(await refused('admin', replace, map(`tapfix-${role}-history-0`, data)), bounds);
  assert.match(
    await refused('admin', replace, { ...map('tapfix-watcher-history-0'), immutable: true }),
    bounds,
    'nor made so that it can never be written again',
  );
});
