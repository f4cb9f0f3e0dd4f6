import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  inWords,
  lastChanges,
  lastEditorOf,
  lastScalerOf,
  lastWriterOf,
  rolloutOf,
} from '../../../src/diagnosis/changed.ts';
import { readWorkload } from '../../../src/diagnosis/workload.ts';
import type { KubeObject, ManagedFields } from '../../../src/kube/api.ts';
import { aShop, aWorkload, ownedBy, type Owner, type Shop } from './support.ts';

const at = (time: string): number => Date.parse(`2026-11-16T${time}Z`);
const object = (managedFields?: ManagedFields[]): KubeObject => ({
  kind: 'Deployment',
  metadata: {
    name: 'a',
    uid: 'd',
    resourceVersion: '1',
    creationTimestamp: '2026-11-16T01:00:00Z',
    ...(managedFields && { managedFields }),
  },
});

const template = { 'f:spec': { 'f:template': { 'f:spec': {} } } };
const replicas = { 'f:spec': { 'f:replicas': {} } };
const strategy = { 'f:spec': { 'f:strategy': {} } };
const by = (manager: string, time: string, fieldsV1: object, subresource?: string): ManagedFields => ({
  manager,
  time: `2026-11-16T${time}Z`,
  fieldsV1: fieldsV1 as never,
  ...(subresource && { subresource }),
});

test('the last writer of the template is named, not who scaled it, annotated it or writes the status', () => {
  const fields = [
    by('kubectl-create', '01:00:00', template),
    by('kubectl-set', '02:00:00', template),
    by('hpa', '03:00:00', replicas),
    by('kubectl-annotate', '03:00:00', { 'f:metadata': { 'f:annotations': {} } }),
    by('kube-controller-manager', '03:00:00', template, 'status'),
  ];
  assert.deepEqual(lastWriterOf(object(fields), ['spec', 'template']), { by: 'kubectl-set', atMs: at('02:00:00') });
  assert.deepEqual(lastWriterOf(object(fields), ['spec']), { by: 'hpa', atMs: at('03:00:00') });
  assert.equal(lastWriterOf(object(), ['spec']), undefined);
});

const scalers: { name: string; fields: ManagedFields[]; want: string | undefined }[] = [
  { name: 'kubectl scale', fields: [by('kubectl', '02:00:00', replicas, 'scale')], want: 'kubectl' },
  { name: 'kubectl edit', fields: [by('kubectl-edit', '02:00:00', replicas)], want: 'kubectl-edit' },
  {
    name: 'an autoscaler',
    fields: [by('kube-controller-manager', '02:00:00', replicas, 'scale')],
    want: 'an autoscaler',
  },
  { name: 'the newest of two', fields: [by('a', '02:00:00', replicas), by('b', '03:00:00', replicas)], want: 'b' },
  {
    name: 'an apply of everything, which may have changed anything',
    fields: [by('kubectl-client-side-apply', '02:00:00', { 'f:spec': { 'f:template': {}, 'f:replicas': {} } })],
    want: undefined,
  },
  { name: 'nobody', fields: [by('a', '02:00:00', template)], want: undefined },
];
for (const { name, fields, want } of scalers)
  test(`who scaled it: ${name}`, () => assert.equal(lastScalerOf(object(fields))?.by, want));

test('who edited anything else is neither who rolled out nor who scaled', () => {
  assert.equal(lastEditorOf(object([by('a', '02:00:00', template), by('b', '03:00:00', replicas)])), undefined);
  assert.equal(lastEditorOf(object([by('a', '02:00:00', strategy), by('b', '03:00:00', strategy, 'status')]))?.by, 'a');
});

const past = (revision: number, image: string, created = '02:11:40') => ({
  revision,
  createdAtMs: at(created),
  template: { spec: { containers: [{ name: 'app', image }] } },
});
const rollouts: {
  name: string;
  pasts: ReturnType<typeof past>[];
  fields?: ManagedFields[];
  want: string | undefined;
}[] = [
  { name: 'no revision', pasts: [], want: undefined },
  { name: 'one revision is no change', pasts: [past(1, 'a:1')], want: undefined },
  {
    name: 'the newest against the one before it',
    pasts: [past(42, 'a:3'), past(41, 'a:2', '01:00:00'), past(40, 'a:1', '01:00:00')],
    want: '02:11:40 rollout 42: app image 2 → 3',
  },
  {
    name: 'who made it',
    pasts: [past(42, 'a:3'), past(41, 'a:2', '01:00:00')],
    fields: [by('kubectl-set', '02:11:39', template)],
    want: '02:11:40 rollout 42 (kubectl-set): app image 2 → 3',
  },
  {
    name: 'not who wrote something else of it much later',
    pasts: [past(42, 'a:3'), past(41, 'a:2', '01:00:00')],
    fields: [by('kubectl-client-side-apply', '04:00:00', template)],
    want: '02:11:40 rollout 42: app image 2 → 3',
  },
  {
    name: 'an undo, which takes up an old revision again',
    pasts: [past(3, 'a:1', '01:00:00'), past(2, 'a:2', '02:00:00')],
    fields: [by('kubectl-rollout', '03:00:00', template)],
    want: '03:00:00 rollout 3 (kubectl-rollout): app image 2 → 1',
  },
  {
    name: 'a change that has no words',
    pasts: [past(2, 'a:1'), past(1, 'a:1', '01:00:00')],
    want: '02:11:40 rollout 2: pod template changed',
  },
];
for (const { name, pasts, fields, want } of rollouts)
  test(`the last rollout: ${name}`, () => {
    const found = rolloutOf(object(fields), pasts);
    assert.equal(found && `${new Date(found.atMs).toISOString().slice(11, 19)} ${found.text}`, want);
  });

test('newest first, a handful at most, each short, and what is a week old only when there is nothing newer', () => {
  const entry = (day: number, text: string) => ({ atMs: Date.UTC(2026, 10, day), text });
  const now = Date.UTC(2026, 10, 16);
  assert.deepEqual(inWords([entry(1, 'old'), undefined, entry(14, 'b'), entry(15, 'a')], now), [
    '2026-11-15T00:00:00.000Z a',
    '2026-11-14T00:00:00.000Z b',
  ]);
  assert.deepEqual(inWords([entry(1, 'old'), entry(2, 'newer')], now), ['2026-11-02T00:00:00.000Z newer']);
  assert.deepEqual(inWords([], now), []);
  const many = inWords(
    Array.from({ length: 9 }, () => entry(15, 'x'.repeat(900))),
    now,
  );
  assert.deepEqual([many.length, many[0]!.length], [4, 512]);
});

const changesOf = async (shop: Shop, owner: Owner) =>
  lastChanges(shop.reader, (await readWorkload(shop.reader, 'shop', owner))!, at('04:00:00'));

for (const kind of ['StatefulSet', 'DaemonSet'] as const)
  test(`the last rollout of a ${kind} is told by its ControllerRevisions`, async () => {
    const shop = aShop();
    const owner = aWorkload(shop, kind, {}, {});
    for (const [revision, image, of] of [
      [1, 'db:14', owner],
      [2, 'db:15', owner],
      [9, 'x:1', { ...owner, uid: 'other' }],
    ] as const)
      shop.server.seed('ControllerRevision', 'shop', {
        metadata: { name: `r-${revision}`, ...ownedBy(of) },
        revision,
        data: { spec: { template: { $patch: 'replace', spec: { containers: [{ name: 'db', image }] } } } },
      });
    assert.deepEqual(await changesOf(shop, owner), ['2026-11-16T03:12:00.000Z rollout 2: db image 14 → 15']);
  });

test('a restart does not hide the change before it', async () => {
  const shop = aShop();
  const owner = aWorkload(shop, 'StatefulSet', {}, {});
  const revisions = [
    { revision: 1, image: 'db:14', annotations: {} },
    { revision: 2, image: 'db:15', annotations: {} },
    { revision: 3, image: 'db:15', annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-11-16T03:12:00Z' } },
  ];
  for (const { revision, image, annotations } of revisions)
    shop.server.seed('ControllerRevision', 'shop', {
      metadata: { name: `r-${revision}`, ...ownedBy(owner) },
      revision,
      data: { spec: { template: { metadata: { annotations }, spec: { containers: [{ name: 'db', image }] } } } },
    });
  assert.deepEqual(await changesOf(shop, owner), [
    '2026-11-16T03:12:00.000Z rollout 3: restarted by hand',
    '2026-11-16T03:12:00.000Z rollout 2: db image 14 → 15',
  ]);
});

test('without the right to read ControllerRevisions there is only less to say', async () => {
  const shop = aShop();
  const owner = aWorkload(shop, 'StatefulSet', {}, {});
  const { ApiError } = await import('../../../src/kube/api.ts');
  shop.server.hooks.before = ({ kind }) => {
    if (kind === 'ControllerRevision') throw new ApiError('no', 403, 'Forbidden');
  };
  assert.deepEqual(await changesOf(shop, owner), []);
});

const scaled = (from: string) => ({
  metadata: { name: 's' },
  reason: 'ScalingReplicaSet',
  type: 'Normal',
  lastTimestamp: '2026-11-16T03:30:01Z',
  message: `Scaled up replica set a-1 ${from}to 6`,
});
for (const [name, from, want] of [
  ['with how many there were', 'from 2 ', 'scaled 2 → 6 (kubectl)'],
  ['without it', '', 'scaled to 6 (kubectl)'],
] as const)
  test(`a scale, ${name}, and an edit after it, newest first`, async () => {
    const shop = aShop();
    const owner = aWorkload(shop, 'Deployment', { replicas: 6 }, {});
    const managedFields = [by('kubectl', '03:30:00', replicas, 'scale'), by('kubectl-edit', '03:40:00', strategy)];
    shop.server.change('Deployment', 'shop', owner.name, { metadata: { managedFields } });
    shop.server.seed('Event', 'shop', { ...scaled(from), involvedObject: { ...owner, namespace: 'shop' } });
    assert.deepEqual(await changesOf(shop, owner), [
      '2026-11-16T03:40:00.000Z Deployment edited (kubectl-edit)',
      `2026-11-16T03:30:00.000Z ${want}`,
    ]);
  });

test('whoever created it has changed nothing since', async () => {
  const shop = aShop();
  const owner = aWorkload(shop, 'Deployment', { replicas: 6 }, {});
  const managedFields = [by('kubectl-create', '03:12:00', { 'f:spec': { 'f:strategy': {}, 'f:replicas': {} } })];
  shop.server.change('Deployment', 'shop', owner.name, { metadata: { managedFields } });
  assert.deepEqual(await changesOf(shop, owner), []);
});

const data = { 'f:data': { 'f:url': {} } };
const needing = (...names: string[]) => ({
  template: { spec: { containers: [{ name: 'app', envFrom: names.map((name) => ({ configMapRef: { name } })) }] } },
});
function aConfigMap({ server }: Shop, name: string, ...managedFields: object[]): void {
  server.seed('ConfigMap', 'shop', {
    metadata: { name, managedFields },
    data: { url: 'postgres://app:secret@db/app' },
  });
}

test('who edited a ConfigMap that its pods need, and when; never what is in it, nor others', async () => {
  const shop = aShop();
  const owner = aWorkload(shop, 'Deployment', needing('web', 'web', 'fresh', 'gone'), {});
  aConfigMap(shop, 'web', by('kubectl-create', '03:12:00', data), by('kubectl-edit', '03:40:00', data));
  aConfigMap(shop, 'fresh', by('kubectl-create', '03:12:00', data));
  aConfigMap(shop, 'other', by('kubectl-edit', '03:50:00', data));
  assert.deepEqual(await changesOf(shop, owner), ['2026-11-16T03:40:00.000Z ConfigMap web edited (kubectl-edit)']);
});

test('a CronJob is looked into as well', async () => {
  const shop = aShop();
  const owner = aWorkload(shop, 'CronJob', { jobTemplate: { spec: needing('web') } }, {});
  aConfigMap(shop, 'web', by('argocd-controller', '03:40:00', data));
  assert.deepEqual(await changesOf(shop, owner), ['2026-11-16T03:40:00.000Z ConfigMap web edited (argocd-controller)']);
});

test('without the right to read ConfigMaps it is asked for once, and there is only less to say', async () => {
  const shop = aShop();
  const owner = aWorkload(shop, 'Deployment', needing('web', 'more'), {});
  const { ApiError } = await import('../../../src/kube/api.ts');
  let asked = 0;
  shop.server.hooks.before = ({ kind }) => {
    if (kind !== 'ConfigMap') return;
    asked += 1;
    throw new ApiError('no', 403, 'Forbidden');
  };
  assert.deepEqual([await changesOf(shop, owner), asked], [[], 1]);
});
