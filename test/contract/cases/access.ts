import assert from 'node:assert/strict';
import { type Facts, type Ground, named, rawWord, refusal, said, type Thing, word } from '../ground.ts';

async function account({ api, ns }: Ground) {
  const name = named('bot');
  await api.create({ kind: 'ServiceAccount', namespace: ns }, { metadata: { name } });
  const request = (spec: object): Promise<Thing & { status: { token: string; expirationTimestamp: string } }> =>
    api.createSub(
      { kind: 'ServiceAccount', namespace: ns, name, subresource: 'token' },
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
    );
  return { name, request };
}

const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
interface Review extends Thing {
  status: { userInfo: { username: string; groups: string[] } };
}
const whoAmI = async (api: Ground['api']) =>
  (await api.create<Review>({ kind: 'SelfSubjectReview' }, review)).status.userInfo;

export const access: Facts = {
  'one can ask who one is': async ({ api }) => {
    const { username, groups } = await whoAmI(api);
    assert.equal(username, 'admin');
    assert.ok(groups.includes('system:authenticated'));
  },
  'a token of a ServiceAccount is that account': async (ground) => {
    const { name, request } = await account(ground);
    const { token } = (await request({ expirationSeconds: 600 })).status;
    const { username, groups } = await whoAmI(ground.api.withToken(token));
    assert.equal(username, `system:serviceaccount:${ground.ns}:${name}`);
    assert.deepEqual(groups, ['system:serviceaccounts', `system:serviceaccounts:${ground.ns}`, 'system:authenticated']);
  },
  'a token says when it ends, as was asked for': async (ground) => {
    const { request } = await account(ground);
    const { status } = await request({ expirationSeconds: 600 });
    const inMs = Date.parse(status.expirationTimestamp) - Date.now();
    assert.ok(Math.abs(inMs - 600_000) < 10_000, `${inMs} ms`);
  },
  'a token that nobody asked a time for lives an hour': async (ground) => {
    const { request } = await account(ground);
    assert.equal((await request({})).spec?.['expirationSeconds'], 3600);
  },
  'less than ten minutes is 422 Invalid': async (ground) => {
    const { request } = await account(ground);
    const error = await refusal(request({ expirationSeconds: 599 }));
    assert.equal(word(error), '422 Invalid');
    assert.match(error.message, /may not specify a duration less than 10 minutes/);
  },
  'each token is another': async (ground) => {
    const { request } = await account(ground);
    assert.notEqual((await request({})).status.token, (await request({})).status.token);
  },
  'a token for another audience is 401 Unauthorized here': async (ground) => {
    const { request } = await account(ground);
    const made = await request({ audiences: ['elsewhere'] });
    assert.deepEqual(made.spec?.['audiences'], ['elsewhere']);
    assert.equal(await said(whoAmI(ground.api.withToken(made.status.token))), '401 Unauthorized');
  },
  'a token that nobody gave out is 401 Unauthorized': async ({ api, ns }) => {
    assert.equal(await said(whoAmI(api.withToken('nonsense'))), '401 Unauthorized');
    assert.equal(
      await said(api.withToken('nonsense').get({ kind: 'Pod', namespace: ns, name: 'x' })),
      '401 Unauthorized',
    );
  },
  'an account that is not there has no tokens: 404 NotFound': async ({ api, ns }) => {
    const ref = { kind: 'ServiceAccount' as const, namespace: ns, name: 'nobody', subresource: 'token' };
    assert.equal(await said(api.createSub(ref, { spec: {} })), '404 NotFound');
  },
  'one can ask whether somebody may do something': async ({ raw }) => {
    const resourceAttributes = { group: 'tapfix.dev', resource: 'remediations', verb: 'approve', namespace: 'shop' };
    const spec = { user: 'admin', groups: ['system:masters'], resourceAttributes };
    const answer = await raw('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { body: { spec } });
    assert.equal(rawWord(answer), '201');
    assert.equal(answer.body.status?.['allowed'], true);
    assert.deepEqual(answer.body.spec, spec);
  },
  'one can ask whether oneself may': async ({ raw }) => {
    const spec = { resourceAttributes: { resource: 'pods', verb: 'get', namespace: 'shop' } };
    const answer = await raw('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { body: { spec } });
    assert.equal(answer.body.status?.['allowed'], true);
  },
  'a question about nobody, or about nothing, is 422 Invalid': async ({ raw }) => {
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    const resourceAttributes = { resource: 'pods', verb: 'get' };
    assert.equal(rawWord(await raw('POST', path, { body: { spec: { resourceAttributes } } })), '422 Invalid');
    assert.equal(rawWord(await raw('POST', path, { body: { spec: { user: 'ada' } } })), '422 Invalid');
  },
  'reviews are not kept: 405 to read them': async ({ raw }) => {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    assert.equal(rawWord(await raw('GET', path)), '405 MethodNotAllowed');
  },
};
