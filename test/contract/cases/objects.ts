import assert from 'node:assert/strict';
import { aRevision, aWorkload } from '../builders.ts';
import { type Facts, named, rawWord, refusal, said, type Thing, word } from '../ground.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const toTheSecond = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const maps = (ns: string): string => `/api/v1/namespaces/${ns}/configmaps`;

/** Creating, reading and replacing. */
export const objects: Facts = {
  'a new object has a uid, a resourceVersion and the time of its creation to the second': async ({ api, ns }) => {
    const { metadata } = await api.create({ kind: 'ControllerRevision', namespace: ns }, aRevision(named()));
    assert.match(metadata.uid, uuid);
    assert.match(metadata.resourceVersion, /^\d+$/);
    assert.match(metadata.creationTimestamp, toTheSecond);
    assert.equal(metadata.namespace, ns);
  },
  'a creation answers 201': async ({ raw, ns }) => {
    assert.equal((await raw('POST', maps(ns), { body: { metadata: { name: named() } } })).status, 201);
  },
  'what was created can be read, and is the same': async ({ api, ns }) => {
    const made = await api.create<Thing>({ kind: 'ControllerRevision', namespace: ns }, aRevision(named()));
    const read = await api.get<Thing>({ kind: 'ControllerRevision', namespace: ns, name: made.metadata.name });
    assert.deepEqual(read, made);
  },
  'the answer names its kind and apiVersion, even when the question did not': async ({ raw, ns }) => {
    const { body } = await raw('POST', maps(ns), { body: { metadata: { name: named() } } });
    assert.deepEqual([body.kind, body.apiVersion], ['ConfigMap', 'v1']);
  },
  'later writes have higher resourceVersions': async ({ api, ns }) => {
    const ref = { kind: 'ControllerRevision' as const, namespace: ns };
    const first = await api.create(ref, aRevision(named()));
    const second = await api.create(ref, aRevision(named()));
    assert.ok(Number(second.metadata.resourceVersion) > Number(first.metadata.resourceVersion));
  },
  'a name that is taken is 409 AlreadyExists': async ({ api, ns }) => {
    const name = named();
    await api.create({ kind: 'ControllerRevision', namespace: ns }, aRevision(name));
    const error = await refusal(api.create({ kind: 'ControllerRevision', namespace: ns }, aRevision(name)));
    assert.equal(word(error), '409 AlreadyExists');
    assert.equal(error.message, `controllerrevisions.apps "${name}" already exists`);
  },
  'an object that is not there is 404 NotFound, in these words': async ({ raw, ns }) => {
    const answer = await raw('GET', `/apis/apps/v1/namespaces/${ns}/deployments/nobody`);
    assert.equal(rawWord(answer), '404 NotFound');
    assert.equal(answer.body.message, 'deployments.apps "nobody" not found');
  },
  'get of what is not there is undefined': async ({ api, ns }) => {
    assert.equal(await api.get({ kind: 'Pod', namespace: ns, name: 'nobody' }), undefined);
  },
  'generateName makes names of an alphabet without vowels': async ({ api, ns }) => {
    const body = { ...aRevision(''), metadata: { generateName: 'web-' } };
    const { metadata } = await api.create({ kind: 'ControllerRevision', namespace: ns }, body);
    assert.match(metadata.name, /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  },
  'a long generateName is cut so that the name fits 63 characters': async ({ api, ns }) => {
    const body = { ...aRevision(''), metadata: { generateName: 'w'.repeat(70) } };
    const { metadata } = await api.create({ kind: 'ControllerRevision', namespace: ns }, body);
    assert.match(metadata.name, /^w{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  },
  'a name with capitals is 422 Invalid': async ({ api, ns }) => {
    const error = await refusal(api.create({ kind: 'ControllerRevision', namespace: ns }, aRevision('Web')));
    assert.equal(word(error), '422 Invalid');
    assert.match(
      error.message,
      /^ControllerRevision\.apps "Web" is invalid: metadata\.name: Invalid value: "Web": a lowercase RFC 1123 subdomain/,
    );
  },
  'a name of more than 253 characters is 422 Invalid': async ({ api, ns }) => {
    const body = aRevision('w'.repeat(254));
    assert.equal(await said(api.create({ kind: 'ControllerRevision', namespace: ns }, body)), '422 Invalid');
  },
  'no name at all is 422 Invalid': async ({ api, ns }) => {
    const body = { ...aRevision(''), metadata: {} };
    const error = await refusal(api.create({ kind: 'ControllerRevision', namespace: ns }, body));
    assert.equal(word(error), '422 Invalid');
    assert.match(error.message, /metadata\.name: Required value: name or generateName is required/);
  },
  'a namespace in the body that is not the one in the path is 400 BadRequest': async ({ api, ns }) => {
    const body = aRevision(named(), { namespace: 'elsewhere' });
    assert.equal(await said(api.create({ kind: 'ControllerRevision', namespace: ns }, body)), '400 BadRequest');
  },
  'another kind in the body than in the path is 400 BadRequest': async ({ api, ns }) => {
    const body = { ...aRevision(named()), kind: 'Deployment' };
    assert.equal(await said(api.create({ kind: 'ControllerRevision', namespace: ns }, body)), '400 BadRequest');
  },
  'a label value with a blank is 422 Invalid': async ({ api, ns }) => {
    const body = aRevision(named(), { labels: { app: 'a b' } });
    assert.equal(await said(api.create({ kind: 'ControllerRevision', namespace: ns }, body)), '422 Invalid');
  },
  'a label that is a number is 400 BadRequest': async ({ api, ns }) => {
    const body = aRevision(named(), { labels: { app: 1 } });
    assert.equal(await said(api.create({ kind: 'ControllerRevision', namespace: ns }, body)), '400 BadRequest');
  },
  'an annotation may say anything': async ({ api, ns }) => {
    const annotations = { 'tapfix.dev/fix': 'a b\nc ü', plain: '' };
    const made = await api.create({ kind: 'ControllerRevision', namespace: ns }, aRevision(named(), { annotations }));
    assert.deepEqual(made.metadata.annotations, annotations);
  },
  "uid and creationTimestamp are the server's to choose": async ({ api, ns }) => {
    const body = aRevision(named(), { uid: 'mine', creationTimestamp: '2020-01-01T00:00:00Z' });
    const { metadata } = await api.create({ kind: 'ControllerRevision', namespace: ns }, body);
    assert.match(metadata.uid, uuid);
    assert.ok(metadata.creationTimestamp > '2021');
  },
  'a resourceVersion on a new object is refused': async ({ api, ns }) => {
    const body = aRevision(named(), { resourceVersion: '5' });
    assert.equal((await refusal(api.create({ kind: 'ControllerRevision', namespace: ns }, body))).code, 500);
  },
  'a dry run of a creation answers as if, and stores nothing': async ({ api, ns }) => {
    const name = named();
    const made = await api.create({ kind: 'ControllerRevision', namespace: ns }, aRevision(name), { dryRun: true });
    assert.match(made.metadata.uid, uuid);
    assert.equal(made.metadata.resourceVersion, undefined);
    assert.equal(await api.get({ kind: 'ControllerRevision', namespace: ns, name }), undefined);
  },
  'a dry run refuses what the real thing would refuse': async ({ api, ns }) => {
    const work = api.create({ kind: 'ControllerRevision', namespace: ns }, aRevision('Web'), { dryRun: true });
    assert.equal(await said(work), '422 Invalid');
  },
  'a dryRun that is not All is 422 Invalid': async ({ raw, ns }) => {
    const answer = await raw('POST', `${maps(ns)}?dryRun=Some`, { body: { metadata: { name: named() } } });
    assert.equal(rawWord(answer), '422 Invalid');
  },
  'a PUT replaces everything': async ({ raw, ns }) => {
    const name = named();
    await raw('POST', maps(ns), { body: { metadata: { name, labels: { a: 'b' } }, data: { k: 'v' } } });
    const { status, body } = await raw('PUT', `${maps(ns)}/${name}`, {
      body: { metadata: { name }, data: { p: 'q' } },
    });
    assert.equal(status, 200);
    assert.deepEqual([body['data'], body.metadata.labels], [{ p: 'q' }, undefined]);
  },
  'a PUT with an old resourceVersion is 409 Conflict, in these words': async ({ raw, ns }) => {
    const name = named();
    const { metadata } = (await raw('POST', maps(ns), { body: { metadata: { name } } })).body;
    const at = `${maps(ns)}/${name}`;
    await raw('PUT', at, { body: { metadata: { name }, data: { a: 'b' } } });
    const answer = await raw('PUT', at, { body: { metadata: { name, resourceVersion: metadata.resourceVersion } } });
    assert.equal(rawWord(answer), '409 Conflict');
    assert.equal(
      answer.body.message,
      `Operation cannot be fulfilled on configmaps "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    );
  },
  'a PUT with the uid of another object is 409 Conflict': async ({ raw, ns }) => {
    const name = named();
    await raw('POST', maps(ns), { body: { metadata: { name } } });
    assert.equal(
      rawWord(await raw('PUT', `${maps(ns)}/${name}`, { body: { metadata: { name, uid: 'x' } } })),
      '409 Conflict',
    );
  },
  'a PUT whose name is not the one in the path is 400 BadRequest': async ({ raw, ns }) => {
    const name = named();
    await raw('POST', maps(ns), { body: { metadata: { name } } });
    const answer = await raw('PUT', `${maps(ns)}/${name}`, { body: { metadata: { name: 'other' } } });
    assert.equal(rawWord(answer), '400 BadRequest');
    assert.equal(answer.body.message, `the name of the object (other) does not match the name on the URL (${name})`);
  },
  'a PUT to what is not there is 404 NotFound': async ({ raw, ns }) => {
    assert.equal(
      rawWord(await raw('PUT', `${maps(ns)}/nobody`, { body: { metadata: { name: 'nobody' } } })),
      '404 NotFound',
    );
  },
  'generation counts changes of the spec, and of nothing else': async ({ api, ns }) => {
    const name = named();
    const ref = { kind: 'ReplicaSet' as const, namespace: ns, name };
    const made = await api.create({ kind: 'ReplicaSet', namespace: ns }, aWorkload('ReplicaSet', name));
    assert.equal(made.metadata.generation, 1);
    const annotated = await api.patch(ref, 'merge', { metadata: { annotations: { a: 'b' } } });
    assert.equal(annotated.metadata.generation, 1);
    const changed = await api.patch(ref, 'merge', { spec: { minReadySeconds: 5 } });
    assert.equal(changed.metadata.generation, 2);
  },
  'of a Deployment, and of nothing else, generation also counts changes of annotations': async ({ api, ns }) => {
    const name = named();
    await api.create({ kind: 'Deployment', namespace: ns }, aWorkload('Deployment', name, { paused: true }));
    const ref = { kind: 'Deployment' as const, namespace: ns, name };
    const before = (await api.patch(ref, 'merge', { metadata: { labels: { a: 'b' } } })).metadata.generation!;
    const after = (await api.patch(ref, 'merge', { metadata: { annotations: { a: 'b' } } })).metadata.generation!;
    assert.equal(after, before + 1);
  },
  'kinds that have no spec to speak of have no generation': async ({ api, ns }) => {
    const made = await api.create({ kind: 'ControllerRevision', namespace: ns }, aRevision(named()));
    assert.equal(made.metadata.generation, undefined);
    const account = await api.create({ kind: 'ServiceAccount', namespace: ns }, { metadata: { name: named() } });
    assert.equal(account.metadata.generation, undefined);
    const quota = { metadata: { name: named() }, spec: { hard: { 'count/secrets': '50' } } };
    assert.equal((await api.create({ kind: 'ResourceQuota', namespace: ns }, quota)).metadata.generation, undefined);
  },
};
