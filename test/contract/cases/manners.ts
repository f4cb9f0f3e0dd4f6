import assert from 'node:assert/strict';
import { noSuchPath } from '../../../src/kube/api.ts';
import { errorOf } from '../../../src/kube/client-transport.ts';
import { pathOf } from '../../../src/kube/resources.ts';
import { type Facts, named, rawWord } from '../ground.ts';

const maps = (ns: string): string => `/api/v1/namespaces/${ns}/configmaps`;

const answers = (what: string, method: string, path: (ns: string) => string, expected: string): Facts => ({
  [`${what} is ${expected}`]: async ({ raw, ns }) => {
    assert.equal(rawWord(await raw(method, path(ns))), expected);
  },
});

const refusesBody = (what: string, body: unknown, expected: string, contentType = 'application/json'): Facts => ({
  [`${what} is ${expected}`]: async ({ raw, ns }) => {
    assert.equal(rawWord(await raw('POST', maps(ns), { body, contentType })), expected);
  },
});

export const manners: Facts = {
  ...answers('a kind that its group does not have', 'GET', () => '/api/v1/frogs', '404 NotFound'),
  ...answers(
    'a kind below a namespace that is not namespaced',
    'GET',
    (ns) => `/api/v1/namespaces/${ns}/nodes`,
    '404 NotFound',
  ),
  'a namespaced object without its namespace is no path at all: 404': async ({ raw }) => {
    const { status, body } = await raw('GET', '/api/v1/pods/x');
    assert.deepEqual([status, body.message], [404, 'the server could not find the requested resource']);
  },
  'an API group that is not there is a 404 page of text, which is no word about an object': async ({ raw }) => {
    const path = '/apis/nobody.example/v1/things';
    const { status, text, body } = await raw('GET', path);
    assert.equal(status, 404);
    assert.equal(body.kind, undefined);
    assert.equal(errorOf(status, {}, text, path).reason, noSuchPath);
  },
  ...answers('a POST to an object', 'POST', (ns) => `${maps(ns)}/x`, '405 MethodNotAllowed'),
  ...answers('a PUT to a collection', 'PUT', maps, '405 MethodNotAllowed'),
  ...answers('a PATCH of a collection', 'PATCH', maps, '405 MethodNotAllowed'),
  ...answers(
    'a POST to a namespaced kind without its namespace',
    'POST',
    () => '/api/v1/configmaps',
    '405 MethodNotAllowed',
  ),
  ...refusesBody('half a JSON', '{"a":', '400 BadRequest'),
  ...refusesBody('no JSON at all', 'hello', '400 BadRequest'),
  ...refusesBody('nothing', '', '400 BadRequest'),
  ...refusesBody('a list', '[]', '400 BadRequest'),
  ...refusesBody('an object without a name', {}, '422 Invalid'),
  ...refusesBody('metadata that is a text', { metadata: 'x' }, '400 BadRequest'),
  ...refusesBody('annotations that are a text', { metadata: { name: 'x', annotations: 'x' } }, '400 BadRequest'),
  ...refusesBody('owners that are no list', { metadata: { name: 'x', ownerReferences: {} } }, '400 BadRequest'),
  ...refusesBody('another version', { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'x' } }, '400 BadRequest'),
  ...refusesBody('a content type that nobody knows', 'a: b', '415 UnsupportedMediaType', 'text/plain'),
  ...refusesBody(
    'more than 3 MB',
    { metadata: { name: 'big' }, data: { a: 'x'.repeat(3_200_000) } },
    '413 RequestEntityTooLarge',
  ),
  'a ConfigMap of more than 1 MB is 422 Invalid': async ({ raw, ns }) => {
    const body = { metadata: { name: named() }, data: { a: 'x'.repeat(1_100_000) } };
    assert.equal(rawWord(await raw('POST', maps(ns), { body })), '422 Invalid');
  },
  'a key called __proto__ is a key like any other': async ({ raw, ns }) => {
    const name = named();
    const body = `{"metadata":{"name":"${name}"},"data":{"__proto__":"x","constructor":"y"}}`;
    const { status, text } = await raw('POST', maps(ns), { body, contentType: 'application/json' });
    assert.equal(status, 201);
    assert.match(text, /"__proto__":"x"/);
  },
  'the server says its version and that it is well': async ({ raw }) => {
    const { body } = await raw('GET', '/version');
    assert.equal((body as unknown as { major: string }).major, '1');
    for (const path of ['/healthz', '/livez', '/readyz']) {
      const { status, text } = await raw('GET', path);
      assert.deepEqual([status, text.trim()], [200, 'ok']);
    }
  },
  'a Lease is taken by whoever has its version': async ({ raw, ns }) => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`;
    const name = named();
    const { body } = await raw('POST', path, { body: { metadata: { name }, spec: { holderIdentity: 'a' } } });
    const take = (holderIdentity: string) =>
      raw('PUT', `${path}/${name}`, {
        body: { metadata: { name, resourceVersion: body.metadata.resourceVersion }, spec: { holderIdentity } },
      });
    assert.equal(rawWord(await take('b')), '200');
    assert.equal(rawWord(await take('c')), '409 Conflict');
  },
  'a PUT of a Lease or of a budget has to say which version it replaces: 422 Invalid': async ({ raw, ns }) => {
    const lease = { path: `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`, spec: { holderIdentity: 'a' } };
    const budget = {
      path: pathOf('PodDisruptionBudget', ns),
      spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } },
    };
    for (const { path, spec } of [lease, budget]) {
      const name = named();
      await raw('POST', path, { body: { metadata: { name }, spec } });
      assert.equal(rawWord(await raw('PUT', `${path}/${name}`, { body: { metadata: { name }, spec } })), '422 Invalid');
      await raw('DELETE', `${path}/${name}`);
    }
  },
  'all of a kind in a namespace can be deleted at once, by selector': async ({ raw, ns }) => {
    const mine = named();
    for (const name of [named(), named()])
      await raw('POST', maps(ns), { body: { metadata: { name, labels: { mine } } } });
    const selected = `${maps(ns)}?labelSelector=mine%3D${mine}`;
    assert.equal(rawWord(await raw('DELETE', selected)), '200');
    assert.deepEqual((await raw('GET', selected)).body.items, []);
  },
};
