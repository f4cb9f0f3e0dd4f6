import assert from 'node:assert/strict';
import { nudge } from '../../../src/actions/nudge.ts';
import { whoAmI } from '../../../src/cli/run.ts';
import { bindingFor } from '../../../src/controller/rights.ts';
import { mostCharacters } from '../../../src/kube/history-maps.ts';
import { type Remediation, withCondition } from '../../../src/kube/remediation.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { anEvent, aNotice, aRemediation, aWorkload, template } from '../builders.ts';
import { eventually, type Facts, type Ground, named, said, type Thing, told, watched } from '../ground.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

async function paused({ api, ns }: Ground) {
  const name = named('web');
  await api.create({ kind: 'Deployment', namespace: ns }, aWorkload('Deployment', name, { paused: true }));
  const ref = { kind: 'Deployment' as const, namespace: ns, name };
  // Its controller says a word or two about it; then it is left alone.
  const live = await eventually('a Deployment that stays as it is', async () => {
    const before = await api.get<Thing>(ref);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const after = await api.get<Thing>(ref);
    return after && before?.metadata.resourceVersion === after.metadata.resourceVersion ? after : undefined;
  });
  return { name, ref, live };
}

/** As RolloutUndo writes it. */
const undo = (live: Thing, next: object) => [
  { op: 'test' as const, path: '/metadata/uid', value: live.metadata.uid },
  { op: 'test' as const, path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
  { op: 'replace' as const, path: '/spec/template', value: next },
  {
    op: 'add' as const,
    path: '/metadata/annotations',
    value: { ...live.metadata.annotations, 'tapfix.dev/fix': 'uid' },
  },
];

async function fix({ api, ns }: Ground): Promise<Remediation> {
  return api.create<Remediation>({ kind: 'Remediation', namespace: ns }, aRemediation(named('fix'), 'admin'));
}

/** The very requests that tapfix sends, put together as it does. */
export const tapfix: Facts = {
  'an undo replaces the template and leaves its mark in one patch': async (ground) => {
    const { name, ref, live } = await paused(ground);
    const next = template(name, { containers: [{ name: 'app', image: 'localhost/app:1.1' }] });
    const after = await ground.api.patch<Thing>(ref, 'json', undo(live, next));
    assert.equal(after.metadata.annotations?.['tapfix.dev/fix'], 'uid');
    assert.match(JSON.stringify(after.spec?.['template']), /localhost\/app:1\.1/);
    assert.ok(after.metadata.generation! > live.metadata.generation!);
  },
  'an undo of a Deployment that has moved on is 422 Invalid, and does nothing': async (ground) => {
    const { name, ref, live } = await paused(ground);
    await ground.api.patch(ref, 'merge', { spec: { minReadySeconds: 1 } });
    assert.equal(await said(ground.api.patch(ref, 'json', undo(live, template(name)))), '422 Invalid');
  },
  'an undo can be rehearsed': async (ground) => {
    const { name, ref, live } = await paused(ground);
    const next = template(name, { containers: [{ name: 'app', image: 'localhost/app:1.1' }] });
    const tried = await ground.api.patch<Thing>(ref, 'json', undo(live, next), { dryRun: true });
    assert.match(JSON.stringify(tried.spec?.['template']), /localhost\/app:1\.1/);
    assert.deepEqual((await ground.api.get<Thing>(ref))?.spec, live.spec);
  },
  'an undo to a template that does not fit the selector is 422 Invalid': async (ground) => {
    const { ref, live } = await paused(ground);
    assert.equal(await said(ground.api.patch(ref, 'json', undo(live, template('other')))), '422 Invalid');
  },
  'a nudge annotates an owner, and refuses another one of the same name': async (ground) => {
    const { api, ns } = ground;
    const name = named('set');
    const { metadata } = await api.create({ kind: 'ReplicaSet', namespace: ns }, aWorkload('ReplicaSet', name));
    await nudge(api, ns, { kind: 'ReplicaSet', name, uid: metadata.uid }, 'mark-1', true);
    await nudge(api, ns, { kind: 'ReplicaSet', name, uid: metadata.uid }, 'mark-1');
    const after = await api.get({ kind: 'ReplicaSet', namespace: ns, name });
    assert.equal(after?.metadata.annotations?.['tapfix.dev/nudge'], 'mark-1');
    assert.equal(after?.metadata.generation, 1);
    assert.equal(await said(nudge(api, ns, { kind: 'ReplicaSet', name, uid: 'another' }, 'mark-2')), '422 Invalid');
    assert.equal(await said(nudge(api, ns, { kind: 'ReplicaSet', name: 'gone', uid: 'u' }, 'mark-2')), '404 NotFound');
  },
  'minted rights go with the Remediation that owns them': async (ground) => {
    const { api, ns } = ground;
    const owner = await fix(ground);
    // A role that every cluster has, in place of tapfix's own.
    const wanted = bindingFor(owner, 'tapfix-writer-pods', ns);
    const body = { ...wanted, roleRef: { ...wanted.roleRef, name: 'view' } };
    await api.create({ kind: 'RoleBinding', namespace: ns }, body);
    assert.equal(await said(api.create({ kind: 'RoleBinding', namespace: ns }, body)), '409 AlreadyExists');
    const found = await api.list('RoleBinding', ns, { labelSelector: 'app.kubernetes.io/managed-by=tapfix' });
    assert.ok(found.some(({ metadata }) => metadata.name === wanted.metadata.name));
    await api.delete({ kind: 'Remediation', namespace: ns, name: owner.metadata.name });
    const ref = { kind: 'RoleBinding' as const, namespace: ns, name: wanted.metadata.name };
    // In a cluster that has just learned of Remediations the collector looks for new kinds only every 30 s.
    await eventually('the rights to be gone', async () => (await api.get(ref)) === undefined, 120_000);
  },
  'two writers of conditions: the one who read first has to read again': async (ground) => {
    const { api, ns } = ground;
    const { metadata } = await fix(ground);
    const ref = { kind: 'Remediation' as const, namespace: ns, name: metadata.name, subresource: 'status' };
    const at = '2026-11-16T10:00:00Z';
    const word = {
      type: 'Confirmed',
      status: 'True',
      reason: 'Derived',
      message: 'm',
      lastTransitionTime: at,
    } as const;
    const { uid, resourceVersion } = metadata;
    const body = {
      metadata: { uid, resourceVersion },
      status: { phase: 'Noticed', conditions: withCondition([], word) },
    };
    await api.patch(ref, 'merge', body);
    assert.equal(await said(api.patch(ref, 'merge', body)), '409 Conflict');
  },
  'a status that says nothing new leaves the resourceVersion': async (ground) => {
    const { api, ns } = ground;
    const { metadata } = await fix(ground);
    const ref = { kind: 'Remediation' as const, namespace: ns, name: metadata.name, subresource: 'status' };
    const sightings = {
      count: 3,
      lastSeen: '2026-11-16T10:00:00Z',
      ready: 0,
      desired: 3,
      affected: ['Deployment/web'],
    };
    const first = await api.patch(ref, 'merge', { status: { sightings } });
    const again = await api.patch(ref, 'merge', { status: { sightings } });
    assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion);
  },
  'Remediations and Notices are watched as everything else is': async (ground) => {
    const { api, ns } = ground;
    const { resourceVersion } = (await api.page('Notice', ns, { limit: '1' })).metadata;
    const name = named('notice');
    await api.create({ kind: 'Notice', namespace: ns }, aNotice(name));
    const ref = { kind: 'Notice' as const, namespace: ns, name };
    await api.patch({ ...ref, subresource: 'status' }, 'merge', { status: { message: '1' } });
    await api.delete(ref);
    const query = { resourceVersion, fieldSelector: `metadata.name=${name}` };
    const lines = await watched(ground, 'Notice', ns, query, ({ type }) => type === 'DELETED');
    assert.deepEqual(lines.map(told), [`ADDED ${name}`, `MODIFIED ${name}`, `DELETED ${name}`]);
  },
  'Remediations of all namespaces are one list': async (ground) => {
    const { metadata } = await fix(ground);
    const all = await ground.api.list<Remediation>('Remediation');
    assert.ok(all.some((one) => one.metadata.uid === metadata.uid && one.kind === 'Remediation'));
  },
  'a ConfigMap that was installed without data is filled over the version that was read, and over no other: 409 Conflict':
    async ({ api, ns }) => {
      const name = named('history');
      const { metadata } = await api.create({ kind: 'ConfigMap', namespace: ns }, { metadata: { name } });
      const ref = { kind: 'ConfigMap' as const, namespace: ns, name };
      const over = (resourceVersion: string, text: string) =>
        api.patch<Thing & { data?: object }>(ref, 'merge', {
          metadata: { resourceVersion },
          data: { revisions: text },
        });
      const first = await over(metadata.resourceVersion, 'one');
      assert.equal(await said(over(metadata.resourceVersion, 'two')), '409 Conflict');
      const long = 'x'.repeat(mostCharacters);
      assert.deepEqual((await over(first.metadata.resourceVersion, long)).data, { revisions: long });
    },
  'a Lease that was installed without a spec is there, and is taken over its version': async ({ api, ns }) => {
    const name = named('lease');
    const { metadata } = await api.create({ kind: 'Lease', namespace: ns }, { metadata: { name } });
    const ref = { kind: 'Lease' as const, namespace: ns, name };
    const take = (holderIdentity: string) =>
      api.patch<Thing>(ref, 'merge', {
        metadata: { resourceVersion: metadata.resourceVersion },
        spec: { holderIdentity, leaseDurationSeconds: 6 },
      });
    assert.equal((await take('one')).spec?.['holderIdentity'], 'one');
    assert.equal(await said(take('other')), '409 Conflict');
  },
  'an Event told twice under one name is 409 AlreadyExists': async ({ api, ns }) => {
    const name = named();
    await api.create({ kind: 'Event', namespace: ns }, anEvent(ns, name));
    assert.equal(await said(api.create({ kind: 'Event', namespace: ns }, anEvent(ns, name))), '409 AlreadyExists');
  },
  'an Event comes back as it was written': async ({ api, ns }) => {
    const made = await api.create<Thing>({ kind: 'Event', namespace: ns }, anEvent(ns, named()));
    const { involvedObject, type, reason, count, lastTimestamp, source } = made as Record<string, unknown>;
    assert.deepEqual(
      { involvedObject, type, reason, count, lastTimestamp, source },
      {
        involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: ns, name: 'p', uid: 'u' },
        type: 'Warning',
        reason: 'BackOff',
        count: 1,
        lastTimestamp: '2026-11-16T10:00:00Z',
        source: { component: 'kubelet' },
      },
    );
  },
  'tapfix learns who it is': async ({ api }) => {
    const asked = {
      api,
      clock: systemClock,
      log: silent,
      signal: new AbortController().signal,
      onFailure: assert.fail,
    };
    assert.equal(await whoAmI(asked), 'admin');
  },
  'a node comes with the status that it was given': async ({ api }) => {
    const name = named('node');
    const status = { capacity: { cpu: '2', memory: '4Gi', pods: '110' } };
    const made = await api.create<Thing>({ kind: 'Node' }, { metadata: { name }, status });
    assert.deepEqual(made.status?.['capacity'], status.capacity);
    await api.delete({ kind: 'Node', name });
  },
};
