import assert from 'node:assert/strict';
import { aRevision } from '../builders.ts';
import { type Facts, type Ground, merge, named, rawWord, refusal, type Thing, word, said } from '../ground.ts';

async function revision({ api, ns }: Ground, metadata: object = {}) {
  const name = named();
  const made = await api.create<Thing>({ kind: 'ControllerRevision', namespace: ns }, aRevision(name, metadata));
  const ref = { kind: 'ControllerRevision' as const, namespace: ns, name };
  return {
    ref,
    made,
    path: `/apis/apps/v1/namespaces/${ns}/controllerrevisions/${name}`,
    isThere: async () => (await api.get(ref)) !== undefined,
  };
}

export const deletions: Facts = {
  'what is deleted is gone': async (ground) => {
    const { ref, isThere } = await revision(ground);
    await ground.api.delete(ref);
    assert.equal(await isThere(), false);
  },
  'what is not there cannot be deleted: 404 NotFound': async ({ api, ns }) => {
    assert.equal(await said(api.delete({ kind: 'ControllerRevision', namespace: ns, name: 'nobody' })), '404 NotFound');
  },
  'the uid of another object as a precondition is 409 Conflict, and nothing is deleted': async (ground) => {
    const { ref, isThere } = await revision(ground);
    const error = await refusal(ground.api.delete(ref, { uid: 'another' }));
    assert.equal(word(error), '409 Conflict');
    assert.match(
      error.message,
      /the UID in the precondition \(another\) does not match the UID in record \([0-9a-f-]{36}\)\. The object might have been deleted and then recreated$/,
    );
    assert.equal(await isThere(), true);
  },
  'an old resourceVersion as a precondition is 409 Conflict, and nothing is deleted': async (ground) => {
    const { ref, made, isThere } = await revision(ground);
    await ground.api.patch(ref, 'merge', { metadata: { labels: { a: 'b' } } });
    const { uid, resourceVersion } = made.metadata;
    const error = await refusal(ground.api.delete(ref, { uid, resourceVersion }));
    assert.equal(word(error), '409 Conflict');
    assert.match(
      error.message,
      /the ResourceVersion in the precondition \(\d+\) does not match the ResourceVersion in record \(\d+\)\. The object might have been modified$/,
    );
    assert.equal(await isThere(), true);
  },
  'both preconditions as they are now: it is deleted': async (ground) => {
    const { ref, made, isThere } = await revision(ground);
    const { uid, resourceVersion } = made.metadata;
    await ground.api.delete(ref, { uid, resourceVersion });
    assert.equal(await isThere(), false);
  },
  'a dry run deletes nothing': async (ground) => {
    const { ref, isThere } = await revision(ground);
    await ground.api.delete(ref, {}, { dryRun: true });
    assert.equal(await isThere(), true);
  },
  'a dry run checks its preconditions': async (ground) => {
    const { ref } = await revision(ground);
    assert.equal(await said(ground.api.delete(ref, { uid: 'another' }, { dryRun: true })), '409 Conflict');
  },
  'a dry run of deleting what is not there is 404 NotFound': async ({ api, ns }) => {
    const ref = { kind: 'ControllerRevision' as const, namespace: ns, name: 'nobody' };
    assert.equal(await said(api.delete(ref, {}, { dryRun: true })), '404 NotFound');
  },
  'with options in the body, dryRun in the query is not read: it is deleted': async (ground) => {
    const { path, isThere } = await revision(ground);
    await ground.raw('DELETE', `${path}?dryRun=All`, { body: { apiVersion: 'v1', kind: 'DeleteOptions' } });
    assert.equal(await isThere(), false);
  },
  'without a body, dryRun in the query is read': async (ground) => {
    const { path, isThere } = await revision(ground);
    assert.equal((await ground.raw('DELETE', `${path}?dryRun=All`)).status, 200);
    assert.equal(await isThere(), true);
  },
  'a propagation policy that does not exist is 422 Invalid': async (ground) => {
    const { path } = await revision(ground);
    assert.equal(rawWord(await ground.raw('DELETE', path, { body: { propagationPolicy: 'Zip' } })), '422 Invalid');
  },
  'options that are no JSON are 400 BadRequest': async (ground) => {
    const { path, isThere } = await revision(ground);
    assert.equal(
      rawWord(await ground.raw('DELETE', path, { body: 'zip', contentType: 'application/json' })),
      '400 BadRequest',
    );
    assert.equal(await isThere(), true);
  },
  'the answer says what was deleted': async (ground) => {
    const { path, made } = await revision(ground);
    const { status, body } = await ground.raw('DELETE', path);
    assert.deepEqual([status, body.kind, body['status']], [200, 'Status', 'Success']);
    assert.equal((body.details as { uid?: string }).uid, made.metadata.uid);
  },
  'a name that is free again can be taken, under a new uid': async (ground) => {
    const { ref, made } = await revision(ground);
    await ground.api.delete(ref);
    const next = await ground.api.create({ kind: ref.kind, namespace: ref.namespace }, aRevision(ref.name));
    assert.notEqual(next.metadata.uid, made.metadata.uid);
  },
  'a finalizer keeps it, marked with the time, until it is taken away': async (ground) => {
    const { ref, path, isThere } = await revision(ground, { finalizers: ['a.example/x'] });
    await ground.api.delete(ref);
    const marked = await ground.api.get(ref);
    assert.match(marked?.metadata.deletionTimestamp ?? '', /^\d{4}-/);
    await ground.raw('PATCH', path, { body: { metadata: { finalizers: null } }, contentType: merge });
    assert.equal(await isThere(), false);
  },
  'what is being deleted takes no new finalizers': async (ground) => {
    const { ref } = await revision(ground, { finalizers: ['a.example/x'] });
    await ground.api.delete(ref);
    const body = { metadata: { finalizers: ['a.example/x', 'a.example/y'] } };
    assert.equal(await said(ground.api.patch(ref, 'merge', body)), '422 Invalid');
    await ground.api.patch(ref, 'merge', { metadata: { finalizers: null } });
  },
};
