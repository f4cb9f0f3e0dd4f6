import assert from 'node:assert/strict';
import type { JsonPatchOp } from '../../../src/kube/api.ts';
import { aRevision } from '../builders.ts';
import { type Facts, type Ground, json, merge, named, rawWord, refusal, said, type Thing, word } from '../ground.ts';

const maps = (ns: string): string => `/api/v1/namespaces/${ns}/configmaps`;

async function aMap({ raw, ns }: Ground, over: object = {}) {
  const name = named();
  const { body } = await raw('POST', maps(ns), { body: { metadata: { name }, data: { k: 'v' }, ...over } });
  const at = `${maps(ns)}/${name}`;
  const patch = (ops: unknown, contentType = json) => raw('PATCH', at, { body: ops, contentType });
  return { name, at, made: body, patch };
}

async function revision({ api, ns }: Ground, metadata: object = {}) {
  const name = named();
  const made = await api.create<Thing>({ kind: 'ControllerRevision', namespace: ns }, aRevision(name, metadata));
  return { ref: { kind: 'ControllerRevision' as const, namespace: ns, name }, made };
}

/** A JSON patch that does not apply. */
const doesNotApply = (what: string, ops: object[]): Facts => ({
  [`JSON patch: ${what} is 422 Invalid`]: async (ground) => {
    const { patch } = await aMap(ground);
    const answer = await patch(ops);
    assert.equal(rawWord(answer), '422 Invalid');
    assert.equal(answer.body.message, 'the server rejected our request due to an error in our request');
  },
});

/** A JSON patch that does, and what comes of `{k: 'v'}`. */
const applies = (what: string, ops: object[], data: object): Facts => ({
  [`JSON patch: ${what}`]: async (ground) => {
    const { patch } = await aMap(ground);
    const { status, body } = await patch(ops);
    assert.equal(status, 200);
    assert.deepEqual(body['data'], data);
  },
});

export const patches: Facts = {
  'merge patch: adds, replaces and with null removes': async (ground) => {
    const { patch } = await aMap(ground, { data: { k: 'v', old: 'x' } });
    const { body } = await patch({ data: { k: 'w', new: 'y', old: null } }, merge);
    assert.deepEqual(body['data'], { k: 'w', new: 'y' });
  },
  'merge patch: the last annotation removed leaves no empty map': async (ground) => {
    const { ref } = await revision(ground, { annotations: { a: 'b' } });
    const { metadata } = await ground.api.patch(ref, 'merge', { metadata: { annotations: { a: null } } });
    assert.equal(metadata.annotations, undefined);
  },
  'merge patch: a list replaces a list': async (ground) => {
    const { ref } = await revision(ground, { finalizers: ['a.example/x', 'a.example/y'] });
    const patched = await ground.api.patch<Thing>(ref, 'merge', { metadata: { finalizers: ['a.example/z'] } });
    assert.deepEqual((patched.metadata as { finalizers?: string[] }).finalizers, ['a.example/z']);
    await ground.api.patch(ref, 'merge', { metadata: { finalizers: null } });
  },
  'a patch that changes nothing leaves the resourceVersion': async (ground) => {
    const { made, patch } = await aMap(ground);
    const { body } = await patch({ data: { k: 'v' } }, merge);
    assert.equal(body.metadata.resourceVersion, made.metadata.resourceVersion);
    assert.equal((await patch([])).body.metadata.resourceVersion, made.metadata.resourceVersion);
  },
  'a patch with an old resourceVersion is 409 Conflict, in these words': async (ground) => {
    const { ref, made } = await revision(ground);
    await ground.api.patch(ref, 'merge', { metadata: { labels: { a: 'b' } } });
    const { resourceVersion } = made.metadata;
    const error = await refusal(ground.api.patch(ref, 'merge', { metadata: { resourceVersion, labels: { a: 'c' } } }));
    assert.equal(word(error), '409 Conflict');
    assert.equal(
      error.message,
      `Operation cannot be fulfilled on controllerrevisions.apps "${ref.name}": the object has been modified; please apply your changes to the latest version and try again`,
    );
  },
  'a patch with the resourceVersion of now is done': async (ground) => {
    const { ref, made } = await revision(ground);
    const { resourceVersion } = made.metadata;
    const { metadata } = await ground.api.patch(ref, 'merge', { metadata: { resourceVersion, labels: { a: 'b' } } });
    assert.deepEqual(metadata.labels, { a: 'b' });
  },
  'a patch with the uid of another object is 422 Invalid': async (ground) => {
    const { ref } = await revision(ground);
    const work = ground.api.patch(ref, 'merge', { metadata: { uid: 'another', labels: { a: 'b' } } });
    const error = await refusal(work);
    assert.equal(word(error), '422 Invalid');
    assert.match(error.message, /metadata\.uid: Invalid value: "another": field is immutable/);
  },
  'a patch with the uid of this object is done': async (ground) => {
    const { ref, made } = await revision(ground);
    const body = { metadata: { uid: made.metadata.uid, labels: { a: 'b' } } };
    assert.deepEqual((await ground.api.patch(ref, 'merge', body)).metadata.labels, { a: 'b' });
  },
  'a patch cannot rename or move an object': async (ground) => {
    const { ref } = await revision(ground);
    assert.equal(await said(ground.api.patch(ref, 'merge', { metadata: { name: 'other' } })), '400 BadRequest');
    assert.equal(await said(ground.api.patch(ref, 'merge', { metadata: { namespace: 'other' } })), '400 BadRequest');
  },
  'a patch cannot make it another kind': async (ground) => {
    const { ref } = await revision(ground);
    assert.equal(await said(ground.api.patch(ref, 'merge', { kind: 'Pod' })), '422 Invalid');
  },
  'a patch does not change the time of creation': async (ground) => {
    const { ref, made } = await revision(ground);
    const body = { metadata: { creationTimestamp: '2020-01-01T00:00:00Z' } };
    const patched = await ground.api.patch(ref, 'merge', body);
    assert.equal(patched.metadata.creationTimestamp, made.metadata.creationTimestamp);
  },
  'a patch of what is not there is 404 NotFound': async ({ api, ns }) => {
    const ref = { kind: 'ControllerRevision' as const, namespace: ns, name: 'nobody' };
    assert.equal(await said(api.patch(ref, 'merge', { metadata: { labels: { a: 'b' } } })), '404 NotFound');
  },
  'a dry run of a patch answers as if, under the old resourceVersion, and changes nothing': async (ground) => {
    const { ref, made } = await revision(ground);
    const tried = await ground.api.patch(ref, 'merge', { metadata: { labels: { a: 'b' } } }, { dryRun: true });
    assert.deepEqual(tried.metadata.labels, { a: 'b' });
    assert.equal(tried.metadata.resourceVersion, made.metadata.resourceVersion);
    assert.deepEqual(await ground.api.get(ref), made);
  },
  'a dry run of a patch checks its preconditions': async (ground) => {
    const { ref } = await revision(ground);
    const ops: JsonPatchOp[] = [{ op: 'test', path: '/metadata/resourceVersion', value: '1' }];
    assert.equal(await said(ground.api.patch(ref, 'json', ops, { dryRun: true })), '422 Invalid');
    const body = { metadata: { resourceVersion: '1' } };
    assert.equal(await said(ground.api.patch(ref, 'merge', body, { dryRun: true })), '409 Conflict');
  },
  'a patch that makes the object invalid is 422 Invalid': async (ground) => {
    const { ref } = await revision(ground);
    assert.equal(await said(ground.api.patch(ref, 'merge', { metadata: { labels: { a: 'b c' } } })), '422 Invalid');
    assert.equal(await said(ground.api.patch(ref, 'merge', { metadata: { labels: { a: 5 } } })), '422 Invalid');
  },
  'JSON patch: all of it or nothing': async (ground) => {
    const { at, patch } = await aMap(ground);
    await patch([
      { op: 'replace', path: '/data/k', value: 'w' },
      { op: 'test', path: '/data/k', value: 'v' },
    ]);
    assert.deepEqual((await ground.raw('GET', at)).body['data'], { k: 'v' });
  },
  ...doesNotApply('a test that fails', [{ op: 'test', path: '/data/k', value: 'no' }]),
  ...doesNotApply('a test of a uid that is another', [{ op: 'test', path: '/metadata/uid', value: 'no' }]),
  ...doesNotApply('a test of what is not there', [{ op: 'test', path: '/data/none', value: 'no' }]),
  ...doesNotApply('a test below what is not there', [{ op: 'test', path: '/none/none', value: 'no' }]),
  ...doesNotApply('an add below what is not there', [{ op: 'add', path: '/metadata/annotations/a', value: 'b' }]),
  ...doesNotApply('a replace below what is not there', [{ op: 'replace', path: '/none/none', value: 'b' }]),
  ...doesNotApply('a remove of what is not there', [{ op: 'remove', path: '/data/none' }]),
  ...doesNotApply('a move of what is not there', [{ op: 'move', from: '/data/none', path: '/data/a' }]),
  ...doesNotApply('an operation that does not exist', [{ op: 'frobnicate', path: '/data/k' }]),
  ...doesNotApply('an operation without a path', [{ op: 'remove' }]),
  ...applies('a test that holds', [{ op: 'test', path: '/data/k', value: 'v' }], { k: 'v' }),
  ...applies('an add of a new key', [{ op: 'add', path: '/data/a', value: 'b' }], { k: 'v', a: 'b' }),
  ...applies('an add of a key that is there replaces it', [{ op: 'add', path: '/data/k', value: 'b' }], { k: 'b' }),
  ...applies('a replace', [{ op: 'replace', path: '/data/k', value: 'b' }], { k: 'b' }),
  ...applies('a replace of a key that is not there adds it', [{ op: 'replace', path: '/data/a', value: 'b' }], {
    k: 'v',
    a: 'b',
  }),
  ...applies(
    'a remove',
    [
      { op: 'add', path: '/data/a', value: 'b' },
      { op: 'remove', path: '/data/k' },
    ],
    { a: 'b' },
  ),
  ...applies(
    'a copy and a move',
    [
      { op: 'copy', from: '/data/k', path: '/data/a' },
      { op: 'move', from: '/data/a', path: '/data/b' },
    ],
    { k: 'v', b: 'v' },
  ),
  'JSON patch: a key with a slash is written ~1': async (ground) => {
    const { ref } = await revision(ground, { annotations: { a: 'b' } });
    const ops: JsonPatchOp[] = [{ op: 'add', path: '/metadata/annotations/tapfix.dev~1fix', value: 'uid' }];
    const { metadata } = await ground.api.patch(ref, 'json', ops);
    assert.deepEqual(metadata.annotations, { a: 'b', 'tapfix.dev/fix': 'uid' });
  },
  'JSON patch: lists by index, and - is their end': async (ground) => {
    const { patch } = await aMap(ground, {});
    const { body } = await patch([
      { op: 'add', path: '/metadata/finalizers', value: ['a.example/1'] },
      { op: 'add', path: '/metadata/finalizers/-', value: 'a.example/3' },
      { op: 'add', path: '/metadata/finalizers/1', value: 'a.example/2' },
      { op: 'remove', path: '/metadata/finalizers/0' },
      { op: 'replace', path: '/metadata/finalizers/0', value: 'a.example/4' },
    ]);
    assert.deepEqual((body.metadata as { finalizers?: string[] }).finalizers, ['a.example/4', 'a.example/3']);
    assert.equal(
      rawWord(await patch([{ op: 'add', path: '/metadata/finalizers/9', value: 'a.example/9' }])),
      '422 Invalid',
    );
    await patch([{ op: 'remove', path: '/metadata/finalizers' }]);
  },
  'a JSON patch that is no list, and a merge patch that is no object, are 400 BadRequest': async (ground) => {
    const { patch } = await aMap(ground);
    assert.equal(rawWord(await patch({ op: 'add' }, json)), '400 BadRequest');
    assert.equal(rawWord(await patch([], merge)), '400 BadRequest');
  },
  'a patch in a format that nobody knows is 415': async (ground) => {
    const { patch } = await aMap(ground);
    assert.equal(rawWord(await patch({ data: {} }, 'application/json')), '415 UnsupportedMediaType');
  },
};
