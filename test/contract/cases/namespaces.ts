import assert from 'node:assert/strict';
import { aPod, aRevision, anEvent } from '../builders.ts';
import { eventually, type Facts, type Ground, named, rawWord, refusal, said, type Thing, word } from '../ground.ts';

const read = ({ api }: Ground, name: string) => api.get<Thing>({ kind: 'Namespace', name });
const end = ({ api }: Ground, name: string) => api.delete({ kind: 'Namespace', name });
const isGone = (ground: Ground, name: string) =>
  eventually(`${name} to be gone`, async () => (await read(ground, name)) === undefined, 60_000);

/** Something in it that holds it up until it is let go. */
async function held(ground: Ground) {
  const name = await ground.freshNamespace();
  const ref = { kind: 'ControllerRevision' as const, namespace: name, name: 'held' };
  await ground.api.create(ref, aRevision('held', { finalizers: ['a.example/x'] }));
  await end(ground, name);
  const letGo = () => ground.api.patch(ref, 'merge', { metadata: { finalizers: null } });
  return { name, letGo };
}

export const namespaces: Facts = {
  'a new namespace is Active, and labelled with its name': async (ground) => {
    const found = await read(ground, ground.ns);
    assert.equal(found?.status?.['phase'], 'Active');
    assert.equal(found?.metadata.labels?.['kubernetes.io/metadata.name'], ground.ns);
    assert.equal(found?.metadata.generation, undefined);
  },
  'a new namespace soon has its default account': async (ground) => {
    assert.ok(await ground.api.get({ kind: 'ServiceAccount', namespace: ground.ns, name: 'default' }));
  },
  'the name of a namespace has no dots: 422 Invalid': async ({ api }) => {
    assert.equal(await said(api.create({ kind: 'Namespace' }, { metadata: { name: 'a.b' } })), '422 Invalid');
  },
  'nothing can be created in a namespace that is not there: 404 NotFound': async ({ api }) => {
    const error = await refusal(api.create({ kind: 'ControllerRevision', namespace: 'no-such' }, aRevision('a')));
    assert.equal(word(error), '404 NotFound');
    assert.equal(error.message, 'namespaces "no-such" not found');
  },
  'that the namespace is not there is said before anything else': async ({ api }) => {
    assert.equal(
      await said(api.create({ kind: 'Pod', namespace: 'no-such' }, { metadata: { name: 'A' } })),
      '404 NotFound',
    );
  },
  'a namespace that was deleted is Terminating, and nothing can be created in it: 403 Forbidden': async (ground) => {
    const { name, letGo } = await held(ground);
    const found = await read(ground, name);
    assert.equal(found?.status?.['phase'], 'Terminating');
    assert.ok(found?.metadata.deletionTimestamp);
    const path = `/apis/apps/v1/namespaces/${name}/controllerrevisions`;
    const answer = await ground.raw('POST', path, { body: aRevision('late') });
    assert.equal(rawWord(answer), '403 Forbidden');
    assert.equal(
      answer.body.message,
      `controllerrevisions.apps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
    );
    const cause = answer.body.details?.causes?.[0];
    assert.deepEqual(
      [cause?.reason, cause?.message],
      ['NamespaceTerminating', `namespace ${name} is being terminated`],
    );
    assert.equal(
      await said(ground.api.create({ kind: 'Event', namespace: name }, anEvent(name, 'late'))),
      '403 Forbidden',
    );
    await letGo();
  },
  'what is in it can still be changed': async (ground) => {
    const { name, letGo } = await held(ground);
    await ground.api.patch({ kind: 'ControllerRevision', namespace: name, name: 'held' }, 'merge', {
      metadata: { labels: { a: 'b' } },
    });
    await letGo();
  },
  'its content goes, and then it goes itself': async (ground) => {
    const name = await ground.freshNamespace();
    await ground.api.create({ kind: 'ControllerRevision', namespace: name }, aRevision('a'));
    await ground.api.create({ kind: 'Pod', namespace: name }, aPod('p'));
    await end(ground, name);
    await isGone(ground, name);
    assert.deepEqual(await ground.api.list('ControllerRevision', name), []);
    assert.deepEqual(await ground.api.list('Pod', name), []);
  },
  'it waits for what a finalizer holds': async (ground) => {
    const { name, letGo } = await held(ground);
    await eventually(
      'the content to be marked',
      async () =>
        (await ground.api.get({ kind: 'ControllerRevision', namespace: name, name: 'held' }))?.metadata
          .deletionTimestamp,
      60_000,
    );
    assert.ok(await read(ground, name));
    await letGo();
    await isGone(ground, name);
  },
  'deleting it again changes nothing': async (ground) => {
    const { name, letGo } = await held(ground);
    const before = await read(ground, name);
    await end(ground, name);
    assert.equal((await read(ground, name))?.metadata.deletionTimestamp, before?.metadata.deletionTimestamp);
    await letGo();
  },
  'a dry run of deleting it marks nothing': async (ground) => {
    await ground.api.delete({ kind: 'Namespace', name: ground.ns }, {}, { dryRun: true });
    assert.equal((await read(ground, ground.ns))?.status?.['phase'], 'Active');
  },
  'a namespace of another uid is not deleted: 409 Conflict': async (ground) => {
    assert.equal(
      await said(ground.api.delete({ kind: 'Namespace', name: ground.ns }, { uid: 'another' })),
      '409 Conflict',
    );
  },
  'default, kube-system and kube-public cannot be deleted: 403 Forbidden': async ({ api }) => {
    for (const name of ['default', 'kube-system', 'kube-public'])
      assert.equal(await said(api.delete({ kind: 'Namespace', name }, {}, { dryRun: true })), '403 Forbidden');
  },
  'an Event of another namespace than what it is about is 422 Invalid': async ({ api, ns }) => {
    assert.equal(
      await said(api.create({ kind: 'Event', namespace: ns }, anEvent('elsewhere', named()))),
      '422 Invalid',
    );
  },
  'an Event about a node lives in default': async ({ api }) => {
    const name = named();
    const involvedObject = { kind: 'Node', name: 'real-1', uid: 'real-1' };
    await api.create({ kind: 'Event', namespace: 'default' }, anEvent('default', name, { involvedObject }));
    await api.delete({ kind: 'Event', namespace: 'default', name });
  },
  'an Event of the newer family has to say who reports what: 422 Invalid': async ({ api, ns }) => {
    const times = { firstTimestamp: undefined, lastTimestamp: undefined, count: undefined, source: undefined };
    const event = (over: object) =>
      api.create(
        { kind: 'Event', namespace: ns },
        anEvent(ns, named(), { ...times, eventTime: '2026-11-16T10:00:00.000000Z', ...over }),
      );
    assert.equal(await said(event({})), '422 Invalid');
    await event({
      reportingComponent: 'default-scheduler',
      reportingInstance: 'default-scheduler-1',
      action: 'Scheduling',
    });
  },
};
