import assert from 'node:assert/strict';
import { lastWriterOf } from '../../../src/diagnosis/changed.ts';
import type { ManagedFields } from '../../../src/kube/api.ts';
import { aWorkload } from '../builders.ts';
import { type Facts, type Ground, json, merge, named, pause, type Thing } from '../ground.ts';

/** A ReplicaSet by "maker": its own controller writes nothing but its status. */
async function made({ raw, ns }: Ground) {
  const name = named();
  const all = `/apis/apps/v1/namespaces/${ns}/replicasets`;
  await raw('POST', `${all}?fieldManager=maker`, { body: aWorkload('ReplicaSet', name) });
  const patch = async (manager: string, body: unknown, contentType = merge, sub = ''): Promise<Thing> =>
    (await raw('PATCH', `${all}/${name}${sub}?fieldManager=${manager}`, { body, contentType })).body;
  const read = async (): Promise<Thing> => (await raw('GET', `${all}/${name}`)).body;
  return { name, patch, read };
}

const entry = ({ metadata }: Thing, manager: string): ManagedFields | undefined =>
  metadata.managedFields?.find((one) => one.manager === manager);
const writer = (object: Thing, ...path: string[]): string | undefined => lastWriterOf(object, path)?.by;
const image = (value: string) => [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value }];

/** Times in the books are to the second: who was later is only told apart after one. */
const aSecondLater = (): Promise<void> => pause(1_100);

export const writers: Facts = {
  'who creates is in the books, with the time': async (ground) => {
    const object = await (await made(ground)).read();
    const { operation, time, subresource } = entry(object, 'maker')!;
    assert.deepEqual([operation, subresource], ['Update', undefined]);
    assert.match(time ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(writer(object, 'spec', 'template'), 'maker');
  },
  'who changed the template last, and when, can be told': async (ground) => {
    const { patch } = await made(ground);
    await aSecondLater();
    const object = await patch('setter', image('localhost/app:2'), json);
    assert.equal(writer(object, 'spec', 'template'), 'setter');
    const change = lastWriterOf(object, ['spec', 'template'])!;
    assert.ok(Math.abs(change.atMs - Date.now()) < 10_000);
  },
  'who only annotates does not become the writer of the template': async (ground) => {
    const { patch } = await made(ground);
    await aSecondLater();
    const object = await patch('annotator', { metadata: { annotations: { a: 'b' } } });
    assert.equal(writer(object, 'spec', 'template'), 'maker');
    assert.ok(entry(object, 'annotator'));
  },
  'who only scales does not become the writer of the template': async (ground) => {
    const { patch } = await made(ground);
    await aSecondLater();
    const object = await patch('scaler', { spec: { minReadySeconds: 7 } });
    assert.equal(writer(object, 'spec', 'template'), 'maker');
    assert.equal(writer(object, 'spec', 'minReadySeconds'), 'scaler');
  },
  'who writes what is already there owns nothing': async (ground) => {
    const { patch } = await made(ground);
    const object = await patch('echo', { spec: { replicas: 0 } });
    assert.equal(entry(object, 'echo'), undefined);
  },
  'who wrote a field before no longer owns it': async (ground) => {
    const { patch } = await made(ground);
    const first = await patch('first', { metadata: { annotations: { a: '1' } } });
    assert.ok(entry(first, 'first'));
    const second = await patch('second', { metadata: { annotations: { a: '2' } } });
    assert.equal(JSON.stringify(entry(second, 'first')?.fieldsV1 ?? {}).includes('"f:a"'), false);
    assert.ok(JSON.stringify(entry(second, 'second')?.fieldsV1).includes('"f:a"'));
  },
  "a field that is removed is nobody's": async (ground) => {
    const { patch } = await made(ground);
    await patch('first', { metadata: { annotations: { a: '1', b: '1' } } });
    const object = await patch('second', { metadata: { annotations: { a: null } } });
    assert.equal(JSON.stringify(object.metadata.managedFields).includes('"f:a"'), false);
    assert.ok(JSON.stringify(entry(object, 'first')?.fieldsV1).includes('"f:b"'));
  },
  'a status is written under its own name, apart from the rest': async (ground) => {
    const { patch } = await made(ground);
    const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'm' }];
    const object = await patch('teller', { status: { conditions } }, merge, '/status');
    assert.equal(entry(object, 'teller')?.subresource, 'status');
    assert.equal(writer(object, 'status'), undefined);
  },
  'one who writes the object and its status is in the books twice': async (ground) => {
    const { patch } = await made(ground);
    await patch('both', { metadata: { annotations: { a: '1' } } });
    const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'm' }];
    const { metadata } = await patch('both', { status: { conditions } }, merge, '/status');
    const entries = metadata.managedFields?.filter(({ manager }) => manager === 'both') ?? [];
    assert.deepEqual(entries.map(({ subresource = '' }) => subresource).sort(), ['', 'status']);
  },
  'the time of an entry moves when its writer writes again': async (ground) => {
    const { patch } = await made(ground);
    const before = entry(await patch('again', { metadata: { annotations: { a: '1' } } }), 'again')!.time!;
    await aSecondLater();
    const after = entry(await patch('again', { metadata: { annotations: { a: '2' } } }), 'again')!.time!;
    assert.ok(after > before, `${after} > ${before}`);
  },
  'what others write does not move it': async (ground) => {
    const { patch } = await made(ground);
    const before = entry(await patch('again', { metadata: { annotations: { a: '1' } } }), 'again')!.time!;
    await aSecondLater();
    const object = await patch('other', { metadata: { annotations: { b: '2' } } });
    assert.equal(entry(object, 'again')!.time, before);
  },
  "tapfix's own writes are in the books as tapfix": async ({ api, ns }) => {
    const name = named();
    const object = await api.create<Thing>({ kind: 'ReplicaSet', namespace: ns }, aWorkload('ReplicaSet', name));
    assert.ok(entry(object, 'tapfix'));
  },
};
