import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { stringify } from 'yaml';
import { loadKubeConfig } from '../../../src/kube/kubeconfig.ts';
import { UserError } from '../../../src/lib/errors.ts';

/** A kubeconfig with one cluster, user and context per name; the first is current. */
const kubeconfig = (...names: string[]): string =>
  stringify({
    'current-context': names[0],
    clusters: names.map((name) => ({
      name,
      cluster: { server: `https://${name}:6443`, 'certificate-authority': 'ca' },
    })),
    users: names.map((name) => ({ name, user: { token: `token-${name}` } })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user: name } })),
  });

/** A directory with these files in it. */
function directory(t: TestContext, files: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), 'tapfix-'));
  t.after(() => rmSync(dir, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(dir, name, '..'), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  return dir;
}

const inPod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
const pod = { 'sa/token': 'pod-token', 'sa/ca.crt': 'CA', 'sa/namespace': 'tapfix-system\n' };

interface Case {
  name: string;
  files: Record<string, string>;
  /** Without values of its own: $HOME is the directory. */
  env?: (dir: string) => NodeJS.ProcessEnv;
  context?: string;
  server: string;
}

const atHome = (dir: string): NodeJS.ProcessEnv => ({ HOME: dir });

const listed =
  (...names: string[]) =>
  (dir: string): NodeJS.ProcessEnv => ({ KUBECONFIG: names.map((name) => join(dir, name)).join(delimiter) });

const good: Case[] = [
  {
    name: 'the file in the home directory',
    files: { '.kube/config': kubeconfig('home') },
    server: 'https://home:6443',
  },
  {
    name: '$KUBECONFIG before the home directory',
    files: { '.kube/config': kubeconfig('home'), other: kubeconfig('other') },
    env: (dir) => ({ HOME: dir, ...listed('other')(dir) }),
    server: 'https://other:6443',
  },
  {
    name: 'the first of several files, names in both notwithstanding',
    files: { one: kubeconfig('a', 'b'), two: kubeconfig('b', 'c') },
    env: listed('one', 'two'),
    server: 'https://a:6443',
  },
  {
    name: 'a context of the second file, a missing one passed over',
    files: { one: kubeconfig('a'), two: kubeconfig('b') },
    env: listed('one', 'missing', 'two'),
    context: 'b',
    server: 'https://b:6443',
  },
  {
    name: "the pod's own credentials before any file",
    files: { ...pod, '.kube/config': kubeconfig('home') },
    env: (dir) => ({ HOME: dir, ...inPod }),
    server: 'https://10.0.0.1:443',
  },
  {
    name: "a pod's credentials over IPv6",
    files: pod,
    env: () => ({ ...inPod, KUBERNETES_SERVICE_HOST: 'fd00::1' }),
    server: 'https://[fd00::1]:443',
  },
  {
    name: 'a named context, even in a pod',
    files: { ...pod, '.kube/config': kubeconfig('home', 'prod') },
    env: (dir) => ({ HOME: dir, ...inPod }),
    context: 'prod',
    server: 'https://prod:6443',
  },
  {
    name: 'the file, in a pod that has no token',
    files: { '.kube/config': kubeconfig('home') },
    env: (dir) => ({ HOME: dir, ...inPod }),
    server: 'https://home:6443',
  },
];

for (const { name, files, env = atHome, context, server } of good) {
  test(`taken: ${name}`, (t) => {
    const dir = directory(t, files);
    const config = loadKubeConfig({ context, env: env(dir), serviceAccountDir: join(dir, 'sa') });
    assert.equal(config.getCurrentCluster()?.server, server);
    assert.ok(config.getCurrentUser());
  });
}

test("a pod's config knows its namespace and its token", async (t) => {
  const config = loadKubeConfig({ env: inPod, serviceAccountDir: join(directory(t, pod), 'sa') });
  const options: { headers?: Record<string, string> } = {};
  await config.applyToHTTPSOptions(options);
  assert.equal(config.getContextObject(config.getCurrentContext())?.namespace, 'tapfix-system');
  assert.equal(options.headers?.['Authorization'], 'Bearer pod-token');
});

test('paths in a file are relative to that file', (t) => {
  const dir = directory(t, { 'x/config': kubeconfig('a') });
  assert.equal(loadKubeConfig({ env: listed('x/config')(dir) }).getCurrentCluster()?.caFile, join(dir, 'x', 'ca'));
});

const secret = 'token: sup3rsecret';
const bad: (Omit<Case, 'server'> & { says: RegExp })[] = [
  { name: 'no kubeconfig', files: {}, says: /^no kubeconfig, and not running in a cluster: looked for .*config$/ },
  { name: 'no place to look', files: {}, env: () => ({}), says: /neither KUBECONFIG nor HOME is set$/ },
  {
    name: 'an unknown context',
    files: { '.kube/config': kubeconfig('b', 'a') },
    context: 'prod',
    says: /^no context "prod" in the kubeconfig; it has a, b$/,
  },
  {
    name: 'no current context',
    files: { '.kube/config': kubeconfig('a').replace('current-context: a', '') },
    says: /^the kubeconfig has no current context; choose one with --context \(it has a\)$/,
  },
  {
    name: 'a context without its cluster',
    files: { '.kube/config': kubeconfig('a').replace('cluster: a', 'cluster: z') },
    says: /names the cluster "z", which is not defined there$/,
  },
  {
    name: 'a context without its user',
    files: { '.kube/config': kubeconfig('a').replace('user: a', 'user: z') },
    says: /names the user "z", which is not defined there$/,
  },
  {
    name: 'broken YAML, without quoting it',
    files: { '.kube/config': `users:\n- ${secret}\n  : : [` },
    says: /^cannot read the kubeconfig .*config: line \d: [^\n]+$/,
  },
  { name: 'an empty file', files: { '.kube/config': '' }, says: /the input is empty$/ },
  { name: 'a file that says nothing', files: { '.kube/config': '~' }, says: /: it is not a kubeconfig$/ },
  {
    name: 'an entry without a server',
    files: { '.kube/config': 'clusters: [{name: a, cluster: {}}]' },
    says: /: clusters\[0\]\.cluster\.server is missing$/,
  },
];

for (const { name, files, env = atHome, context, says } of bad) {
  test(`refused in one line: ${name}`, (t) => {
    const dir = directory(t, files);
    assert.throws(
      () => loadKubeConfig({ context, env: env(dir), serviceAccountDir: join(dir, 'sa') }),
      (error: Error) => {
        assert.ok(error instanceof UserError, String(error));
        assert.match(error.message, says);
        assert.doesNotMatch(error.message, /\n|sup3rsecret/);
        assert.equal(error.cause, undefined);
        return true;
      },
    );
  });
}
