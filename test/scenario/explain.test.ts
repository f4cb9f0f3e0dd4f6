import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { actions } from '../../src/actions/table.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { customResourceDefinitions } from '../../src/manifests/crd.ts';
import type { ApiServer } from '../../src/sim/api/api-server.ts';
import { listen } from '../../src/sim/api/http.ts';
import { parseBehaviour } from '../../src/sim/kubelet/behaviour.ts';
import { createFullSim } from '../sim/full-sim.ts';
import { deployment } from './life/shop.ts';
import { aSetup, type Setup, startTapfix } from './support/tapfix.ts';

/* `tapfix explain` as built, on a simulated cluster behind HTTP. */

interface Options {
  config?: object;
  /** Paths that are forbidden. */
  forbidden?: RegExp;
  image?: string;
}

async function aCluster(t: TestContext, { config, forbidden, image = 'shop/app:2-crash' }: Options = {}) {
  const end = new AbortController();
  const behaviours = (_pod: object, { image: of = '' }: { image?: string }) =>
    of.endsWith('-crash') ? parseBehaviour('crash') : undefined;
  const sim = createFullSim({
    clock: systemClock,
    log: createLog({ level: 'silent' }),
    nodes: 1,
    definitions: customResourceDefinitions(actions),
    behaviours,
  });
  void sim.start(end.signal);
  const refusal = { status: 403, body: { kind: 'Status', code: 403, reason: 'Forbidden', message: 'User "ada" cannot do that' } }; // prettier-ignore
  const server: Pick<ApiServer, 'handle'> = {
    // Everybody may come in: the simulated one knows no token but those it gave out.
    handle: async (request) =>
      forbidden?.test(request.path) ? refusal : sim.server.handle({ ...request, token: undefined }),
  };
  const { url, close } = await listen(server);
  t.after(async () => {
    end.abort();
    await close();
  });
  for (const name of ['shop', 'tapfix'])
    await sim.api.create({ kind: 'Namespace' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await sim.api.create({ kind: 'Deployment', namespace: 'shop' }, deployment('checkout', { image, replicas: 1 }));
  const setup: Setup = { server: url, ...(config && { config }) };
  const { configFile, env, words } = await aSetup(t, setup);
  const explain = (...more: string[]) => startTapfix(t, ['explain', ...more], { env }).ended();
  return { ...sim, env, words, configFile, explain };
}

async function isCrashing({ api }: Awaited<ReturnType<typeof aCluster>>): Promise<void> {
  const endMs = Date.now() + 20_000;
  for (;;) {
    const pods = (await api.list('Pod', 'shop')) as (KubeObject & {
      status?: { containerStatuses?: { state?: { waiting?: { reason?: string } } }[] };
    })[];
    if (pods.some(({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff'))
      return;
    if (Date.now() > endMs) throw new Error('it does not crash');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe('tapfix explain', { concurrency: 2 }, () => {
  test('what is broken, what would be done, and how to reach the watcher: exit 0', async (t) => {
    const cluster = await aCluster(t, { config: { server: { host: '127.0.0.1', localPort: 1 } } });
    await isCrashing(cluster);
    const { code, stdout, stderr } = await cluster.explain('shop/deploy/checkout', '--config', cluster.configFile);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const [first, second, ...rest] = stdout.split('\n');
    assert.equal(first, 'Deployment checkout in shop: 0/1 ready, container app keeps crashing');
    assert.equal(
      second,
      'It is broken (CrashLoop), and there is no message yet: the watcher posts one 30 s after it first sees it, if it is still so then.',
    );
    assert.match(
      rest.join('\n'),
      /^Watcher +the watcher's ledger was not reached at 127\.0\.0\.1:1 \(.+\): kubectl -n tapfix port-forward deploy\/tapfix-watcher 1$/m,
    );
  });

  test('with a watcher that runs: its books, and the Remediation that holds it', async (t) => {
    const cluster = await aCluster(t, { config: { classes: { CrashLoop: { for: '1s' } } } });
    const watcher = startTapfix(t, [...cluster.words, '--role', 'watcher'], { env: cluster.env });
    const { port } = await watcher.says('local server listens');
    await watcher.says('incident recorded');
    const address = `http://127.0.0.1:${String(port)}`;
    const { code, stdout } = await cluster.explain(
      'shop/Deployment/checkout',
      '--config',
      cluster.configFile,
      '--watcher',
      address,
    );
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^There is a message: Remediation shop\/checkout-[0-9a-f]{6}-1 \(new\); there is no new message until it is over\.$/m,
    );
    assert.match(stdout, /^Watcher +\d\d:\d\d:\d\d (Told|Repeated): CrashLoop \((CrashLoopBackOff|BackOff)\)/m);
  });

  test('the configuration of the cluster is taken when none is given, and that is said', async (t) => {
    const cluster = await aCluster(t);
    await isCrashing(cluster);
    const own = {
      cluster: 'prod',
      namespaces: { include: ['payments'] },
      channels: { console: {} },
      server: { localPort: 1 },
    };
    const map = (data: object): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'tapfix-config' },
      data,
    });
    await cluster.api.create({ kind: 'ConfigMap', namespace: 'tapfix' }, map({ 'config.yaml': JSON.stringify(own) }));
    const { code, stdout } = await cluster.explain('shop/deploy/checkout');
    assert.equal(code, 0);
    assert.match(stdout, /^It is seen \(CrashLoop\), and dropped on purpose: namespace shop is not selected/m);
    assert.match(stdout, /^Config +from ConfigMap tapfix\/tapfix-config$/m);
  });

  test('it is muted for now, and that is why', async (t) => {
    const cluster = await aCluster(t);
    await isCrashing(cluster);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const data = { mutes: JSON.stringify([{ glob: 'sho*', until, by: 'telegram:111' }]) };
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'tapfix-mutes' }, data };
    await cluster.api.create({ kind: 'ConfigMap', namespace: 'tapfix' }, body);
    const { code, stdout } = await cluster.explain('shop/deploy/checkout', '--config', cluster.configFile);
    assert.equal(code, 0);
    assert.match(stdout, /^It is seen \(CrashLoop\), and dropped on purpose: it is muted for now/m);
  });

  test('without any configuration: the defaults and every namespace, and that is said', async (t) => {
    const { explain } = await aCluster(t, { image: 'shop/app:1' });
    const { code, stdout } = await explain('shop/deploy/checkout');
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^Config +ConfigMap tapfix\/tapfix-config does not exist, or you may not read it: the defaults and every namespace are used; name another with --config FILE$/m,
    );
  });

  const refusals: [string, string, number, RegExp, RegExp?][] = [
    [
      'no such object',
      'shop/Deployment/chekout',
      1,
      /^there is no Deployment chekout in shop: did you mean checkout\?$/,
    ],
    ['no such namespace', 'shoop/Deployment/checkout', 1, /^there is no namespace shoop$/],
    ['no such kind', 'shop/Deploymnet/checkout', 2, /^tapfix knows no kind "Deploymnet": did you mean Deployment\?$/],
    [
      'not what is asked for',
      'checkout',
      2,
      /^"checkout" is not NAMESPACE\/KIND\/NAME: write it like shop\/Deployment\/checkout$/,
    ],
    [
      'no rights on it',
      'shop/Deployment/checkout',
      1,
      /^you may not read Deployment checkout in shop: User "ada" cannot do that$/,
      /deployments/,
    ],
    [
      'no rights on its pods',
      'shop/Deployment/checkout',
      1,
      /^you may not read this: User "ada" cannot do that$/,
      /pods/,
    ],
  ];
  for (const [name, what, exitCode, line, forbidden] of refusals)
    test(`${name}: one line`, async (t) => {
      const { explain } = await aCluster(t, forbidden ? { forbidden } : {});
      const { code, stdout, stderr } = await explain(what);
      assert.deepEqual({ code, stdout }, { code: exitCode, stdout: '' });
      assert.match(stderr.trimEnd(), line);
      assert.doesNotMatch(stderr.trimEnd(), /\n/);
    });

  test('no API server, and an address that is none: one line each', async (t) => {
    const { configFile, env } = await aSetup(t);
    const words = ['explain', 'shop/Deployment/checkout', '--config', configFile];
    const away = await startTapfix(t, words, { env }).ended();
    assert.match(away.stderr, /^cannot reach the API server http:\/\/127\.0\.0\.1:1: [^\n]+\n$/);
    const odd = await startTapfix(t, [...words, '--watcher', 'localhost'], { env }).ended();
    assert.match(odd.stderr, /^--watcher "localhost" is not an address: write it like http:\/\/127\.0\.0\.1:8081\n$/);
    assert.deepEqual([away.code, odd.code], [1, 2]);
  });
});
