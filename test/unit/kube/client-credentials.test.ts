import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { type ClosableApi, createApi } from '../../../src/kube/client.ts';
import { json, kubeConfigFor, scriptedServer, type ScriptedServer } from '../../support/scripted-server.ts';
import { ca, clientCert, clientKey, serverCert, serverKey } from './certificates.ts';
import { rig } from './support.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A TLS server that asks for client certificates, and Ada, who has one. */
async function tlsRig(t: TestContext, user: object = {}): Promise<{ server: ScriptedServer; api: ClosableApi }> {
  const tls = { cert: serverCert, key: serverKey, ca, requestCert: true, rejectUnauthorized: false };
  const server = await scriptedServer({ tls });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser(
    { name: 'test', server: server.url, caData: base64(ca), skipTLSVerify: false },
    { name: 'ada', certData: base64(clientCert), keyData: base64(clientKey), ...user },
  );
  const api = createApi({ kubeConfig });
  t.after(() => Promise.all([api.close(), server.close()]));
  return { server, api };
}

test('the certificate of the kubeconfig is shown, and the server is checked against its CA', async (t) => {
  const { server, api } = await tlsRig(t);
  server.script(json({}));
  await api.get({ kind: 'Namespace', name: 'shop' });
  assert.deepEqual([server.seen[0]?.certificate, server.seen[0]?.headers.authorization], ['ada', undefined]);
});

test('withToken sends that token and no certificate, and no trace of the former identity', async (t) => {
  const { server, api } = await tlsRig(t, { token: 'adas-token', impersonateUser: 'bob' });
  server.script(json({}), json({}), json({}), json({}));
  await api.get({ kind: 'Namespace', name: 'shop' });
  await api.withToken('minted').get({ kind: 'Namespace', name: 'shop' });
  await api.withToken('another\n').get({ kind: 'Namespace', name: 'shop' });
  await api.get({ kind: 'Namespace', name: 'shop' });
  assert.deepEqual(
    server.seen.map(({ certificate, headers }) => [certificate, headers.authorization, headers['impersonate-user']]),
    [
      ['ada', 'Bearer adas-token', 'bob'],
      [undefined, 'Bearer minted', undefined],
      [undefined, 'Bearer another', undefined],
      ['ada', 'Bearer adas-token', 'bob'],
    ],
  );
  assert.ok(server.connections() <= 3, 'all tokens share the connections without a certificate');
});

test('a server that the CA did not sign is not talked to', async (t) => {
  const { server } = await tlsRig(t);
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser({ name: 'test', server: server.url, skipTLSVerify: false }, { name: 'ada' });
  const api = createApi({ kubeConfig });
  await assert.rejects(api.withToken('minted').get({ kind: 'Namespace', name: 'shop' }), {
    name: 'Unreachable',
    message: /certificate/,
  });
  assert.equal(server.seen.length, 0);
  await api.close();
});

test('a rotated certificate is used from the next call on', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'tapfix-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const [certFile, keyFile] = [join(dir, 'crt'), join(dir, 'key')];
  writeFileSync(certFile, serverCert);
  writeFileSync(keyFile, serverKey);
  const { server, api } = await tlsRig(t, { certData: undefined, keyData: undefined, certFile, keyFile });
  server.script(json({}), json({}));
  await api.get({ kind: 'Namespace', name: 'shop' });
  writeFileSync(certFile, clientCert);
  writeFileSync(keyFile, clientKey);
  await api.get({ kind: 'Namespace', name: 'shop' });
  assert.deepEqual(
    server.seen.map(({ certificate }) => certificate),
    ['api-server', 'ada'],
  );
});

test('credentials are asked for before each call, but by calls at the same time only once', async (t) => {
  let asked = 0;
  const kubeConfig = kubeConfigFor('');
  kubeConfig.applyToHTTPSOptions = async (options) => {
    asked += 1;
    options.headers = { Authorization: `Bearer token-${asked}\n` };
  };
  const { server, api } = await rig(t);
  kubeConfig.getCurrentCluster = () => server.kubeConfig.getCurrentCluster();
  const rotating = createApi({ kubeConfig });
  t.after(() => rotating.close());
  server.script(...Array.from({ length: 4 }, () => json({})));
  await Promise.all([
    rotating.get({ kind: 'Namespace', name: 'shop' }),
    rotating.get({ kind: 'Namespace', name: 'shop' }),
    rotating.get({ kind: 'Namespace', name: 'shop' }),
  ]);
  await rotating.get({ kind: 'Namespace', name: 'shop' });
  await api.close();
  assert.deepEqual(
    server.seen.map(({ headers }) => headers.authorization),
    ['Bearer token-1', 'Bearer token-1', 'Bearer token-1', 'Bearer token-2'],
  );
});
