import assert from 'node:assert/strict';
import { aRevision, anEvent } from '../builders.ts';
import { type Facts, type Ground, named, refusal, said, told, watched } from '../ground.ts';

const kind = 'ControllerRevision' as const;

/** A place in time, and a label that only this case's objects have. */
async function here({ api, ns }: Ground) {
  const { resourceVersion } = (await api.page(kind, ns, { limit: '1' })).metadata;
  const mine = named('w');
  const create = (name: string, labels: object = {}) =>
    api.create({ kind, namespace: ns }, aRevision(`${mine}-${name}`, { labels: { mine, ...labels } }));
  const ref = (name: string) => ({ kind, namespace: ns, name: `${mine}-${name}` });
  const label = (name: string, labels: object) => api.patch(ref(name), 'merge', { metadata: { labels } });
  return { resourceVersion, mine, create, ref, label, query: { resourceVersion, labelSelector: `mine=${mine}` } };
}

export const watches: Facts = {
  'a watch tells of creation, change and deletion, in their order': async (ground) => {
    const { create, ref, label, query, mine } = await here(ground);
    await create('a');
    await label('a', { more: 'x' });
    await ground.api.delete(ref('a'));
    const lines = await watched(ground, kind, ground.ns, query, ({ type }) => type === 'DELETED');
    assert.deepEqual(lines.map(told), [`ADDED ${mine}-a`, `MODIFIED ${mine}-a`, `DELETED ${mine}-a`]);
  },
  'an open watch tells what happens while it is open': async (ground) => {
    const { create, ref, query, mine } = await here(ground);
    const open = watched(ground, kind, ground.ns, query, ({ type }) => type === 'DELETED');
    await create('a');
    await ground.api.delete(ref('a'));
    assert.deepEqual((await open).map(told), [`ADDED ${mine}-a`, `DELETED ${mine}-a`]);
  },
  'lines carry the whole object with its kind, as it was at that moment': async (ground) => {
    const { create, query, label } = await here(ground);
    const made = await create('a');
    await label('a', { more: 'x' });
    const [added] = await watched(ground, kind, ground.ns, query, () => true);
    assert.deepEqual(added?.object, made);
  },
  'each line has a higher resourceVersion than the one before': async (ground) => {
    const { create, ref, query } = await here(ground);
    for (const name of ['a', 'b', 'c']) await create(name);
    for (const name of ['a', 'b', 'c']) await ground.api.delete(ref(name));
    const lines = await watched(ground, kind, ground.ns, query, (_line, all) => all.length === 6);
    const versions = lines.map(({ object }) => Number(object.metadata.resourceVersion));
    assert.deepEqual(
      versions,
      [...versions].sort((a, b) => a - b),
    );
    assert.equal(new Set(versions).size, 6);
  },
  'a deletion carries the last state, under a new resourceVersion': async (ground) => {
    const { create, ref, query } = await here(ground);
    const made = await create('a');
    await ground.api.delete(ref('a'));
    const line = (await watched(ground, kind, ground.ns, query, ({ type }) => type === 'DELETED')).at(-1);
    assert.equal(line?.object.metadata.uid, made.metadata.uid);
    assert.ok(Number(line?.object.metadata.resourceVersion) > Number(made.metadata.resourceVersion));
    assert.deepEqual(line?.object.metadata.labels, made.metadata.labels);
  },
  'a watch from the resourceVersion of a line goes on right after it': async (ground) => {
    const { create, query, mine } = await here(ground);
    const first = await create('a');
    await create('b');
    const from = { ...query, resourceVersion: first.metadata.resourceVersion };
    assert.deepEqual((await watched(ground, kind, ground.ns, from, () => true)).map(told), [`ADDED ${mine}-b`]);
  },
  'a write that changes nothing is not told': async (ground) => {
    const { create, label, query, mine } = await here(ground);
    await create('a', { is: 'so' });
    await label('a', { is: 'so' });
    await create('b');
    const lines = await watched(ground, kind, ground.ns, query, (_line, all) => all.length === 2);
    assert.deepEqual(lines.map(told), [`ADDED ${mine}-a`, `ADDED ${mine}-b`]);
  },
  'what leaves the selection is DELETED, as it last was in it; what enters is ADDED': async (ground) => {
    const { create, label, query } = await here(ground);
    await create('a', { on: 'no' });
    await label('a', { on: 'yes' });
    await label('a', { on: 'yes', more: 'x' });
    await label('a', { on: 'no' });
    await label('a', { on: 'no', more: 'y' });
    await label('a', { on: 'yes' });
    const labelSelector = `${query.labelSelector},on=yes`;
    const lines = await watched(ground, kind, ground.ns, { ...query, labelSelector }, (_line, all) => all.length === 4);
    assert.deepEqual(
      lines.map(({ type }) => type),
      ['ADDED', 'MODIFIED', 'DELETED', 'ADDED'],
    );
    assert.equal(lines[2]?.object.metadata.labels?.['on'], 'yes');
    assert.ok(Number(lines[2]?.object.metadata.resourceVersion) > Number(lines[1]?.object.metadata.resourceVersion));
  },
  'a field selector picks as well': async (ground) => {
    const { resourceVersion } = await here(ground);
    const [loud, quiet, reason] = [named(), named(), named('Reason')];
    const event = (name: string, type: string) =>
      ground.api.create({ kind: 'Event', namespace: ground.ns }, anEvent(ground.ns, name, { type, reason }));
    await event(quiet, 'Normal');
    await event(loud, 'Warning');
    const query = { resourceVersion, fieldSelector: `type=Warning,reason=${reason}` };
    const lines = await watched(ground, 'Event', ground.ns, query, () => true);
    assert.deepEqual(lines.map(told), [`ADDED ${loud}`]);
  },
  'a repeated Event is an update of the same object': async (ground) => {
    const { resourceVersion } = await here(ground);
    const name = named();
    await ground.api.create({ kind: 'Event', namespace: ground.ns }, anEvent(ground.ns, name));
    await ground.api.patch({ kind: 'Event', namespace: ground.ns, name }, 'merge', { count: 2 });
    const query = { resourceVersion, fieldSelector: `metadata.name=${name}` };
    const lines = await watched(ground, 'Event', ground.ns, query, (_line, all) => all.length === 2);
    assert.deepEqual(lines.map(told), [`ADDED ${name}`, `MODIFIED ${name}`]);
  },
  'of other namespaces nothing is told': async (ground) => {
    const { create, query, mine } = await here(ground);
    const elsewhere = await ground.freshNamespace();
    await ground.api.create({ kind, namespace: elsewhere }, aRevision('x', { labels: { mine } }));
    await create('a');
    assert.deepEqual((await watched(ground, kind, ground.ns, query, () => true)).map(told), [`ADDED ${mine}-a`]);
  },
  'without a resourceVersion a watch begins with all that is there': async (ground) => {
    const { create, query, mine } = await here(ground);
    await create('a');
    await create('b');
    const { labelSelector } = query;
    const lines = await watched(ground, kind, ground.ns, { labelSelector }, (_line, all) => all.length === 2);
    assert.deepEqual(lines.map(told).sort(), [`ADDED ${mine}-a`, `ADDED ${mine}-b`]);
  },
  'the server ends a watch after timeoutSeconds': async (ground) => {
    const { query } = await here(ground);
    const beganAtMs = Date.now();
    const lines = await watched(ground, kind, ground.ns, { ...query, timeoutSeconds: '1' }, () => false);
    assert.deepEqual(lines, []);
    assert.ok(Date.now() - beganAtMs >= 900 && Date.now() - beganAtMs < 5_000);
  },
  'a watch of a namespace that is not there is silent': async (ground) => {
    const { resourceVersion } = await here(ground);
    const asked = { resourceVersion, timeoutSeconds: '1' };
    assert.deepEqual(await watched(ground, kind, 'no-such-namespace', asked, () => true), []);
  },
  'a watch with a selector that nobody understands is 400 BadRequest at once': async (ground) => {
    const open = (query: Record<string, string>) => said(watched(ground, kind, ground.ns, query, () => true));
    assert.equal(await open({ labelSelector: 'a b=c' }), '400 BadRequest');
    assert.equal(await open({ fieldSelector: 'data=x' }), '400 BadRequest');
    assert.equal(await open({ timeoutSeconds: 'long' }), '400 BadRequest');
  },
  'a watch from a resourceVersion that is no number is refused at once': async (ground) => {
    const error = await refusal(watched(ground, kind, ground.ns, { resourceVersion: 'new' }, () => true));
    assert.equal(error.code, 500);
  },
};
