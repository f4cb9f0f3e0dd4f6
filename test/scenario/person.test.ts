import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { actions } from '../../src/actions/table.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import { type Remediation, shortIdOf } from '../../src/kube/remediation.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { customResourceDefinitions } from '../../src/manifests/crd.ts';
import type { ApiServer } from '../../src/sim/api/api-server.ts';
import { listen } from '../../src/sim/api/http.ts';
import { localApi } from '../../src/sim/api/local-api.ts';
import { createFullApiServer } from '../sim/full-sim.ts';
import { startEmulator } from '../support/emulator.ts';
import { aFix, condition, type FixOptions } from '../support/fixes.ts';
import { aSetup, root, startTapfix, userToken } from './support/tapfix.ts';

/* The commands of a person with a kubeconfig, as built, against the simulated API server over HTTP. */

interface Options {
  fixes?: readonly FixOptions[];
  /** "PATCH /apis/..." of such requests is forbidden, with this message. */
  forbidden?: RegExp;
  /** Such requests are answered late. */
  slow?: RegExp;
  isWithoutDefinitions?: boolean;
}

const ada = 'ada@example.com';
const refusal = {
  status: 403,
  body: { kind: 'Status', code: 403, reason: 'Forbidden', message: `User "${ada}" cannot do that` },
};

async function aCluster(t: TestContext, { fixes = [], forbidden, slow, isWithoutDefinitions }: Options = {}) {
  const server = createFullApiServer({
    clock: systemClock,
    definitions: isWithoutDefinitions ? [] : customResourceDefinitions(actions),
    tokens: { [userToken]: { username: ada, groups: ['system:authenticated'] } },
  });
  const api = localApi(server);
  for (const name of ['tapfix', 'shop', 'blog']) await api.create({ kind: 'Namespace' }, { metadata: { name } });
  for (const options of fixes) await seed(api, aFix(options));
  const handle: ApiServer['handle'] = async (request) => {
    const line = `${request.method} ${request.path}`;
    if (forbidden?.test(line)) return refusal;
    if (slow?.test(line)) await systemClock.sleep(3_000);
    return server.handle(request);
  };
  const { url, close } = await listen({ handle });
  t.after(close);
  const { env } = await aSetup(t, { server: url });
  const tapfix = (line: string, more: Record<string, string> = {}) =>
    startTapfix(t, line.split(' '), { env: { ...env, ...more } }).ended();
  const fix = async (name: string, namespace = 'shop'): Promise<Remediation> =>
    (await api.get<Remediation>({ kind: 'Remediation', namespace, name }))!;
  return { api, url, env, tapfix, fix };
}

async function seed(api: ReturnType<typeof localApi>, { metadata, status, ...fix }: Remediation): Promise<void> {
  const { name, namespace = 'shop', annotations } = metadata;
  await api.create(
    { kind: 'Remediation', namespace },
    { ...fix, metadata: { name, ...(annotations && { annotations }) } },
  );
  await api.patch({ kind: 'Remediation', namespace, name, subresource: 'status' }, 'merge', { status });
}

const checkout = 'checkout-3f9a1c-1';

/** A command to copy and a diff are never reflowed. */
const isExact = (line: string): boolean => /^ {11}|^kubectl {2} /.test(line);

describe('tapfix as a person uses it', { concurrency: 2 }, () => {
  test('list: the namespace of the context, one namespace, all; for people and for programs', async (t) => {
    const { tapfix } = await aCluster(t, { fixes: [{}, { n: 2, name: 'wordpress', namespace: 'blog' }] });
    const nothing = await tapfix('list');
    assert.deepEqual(
      [nothing.code, nothing.stdout, nothing.stderr],
      [0, '', 'Nothing is recorded in namespace default. -A looks everywhere.\n'],
    );
    const shop = await tapfix('list -n shop');
    assert.match(
      shop.stdout,
      /^NAME +CLASS +SEVERITY +TARGET +ACTION +PHASE +READY +AGE\ncheckout-3f9a1c-1 +CrashLoop +critical +Deployment\/checkout +RolloutUndo +Proposed +0\/3 +\d+s\n$/,
    );
    const everywhere = await tapfix('get -A');
    assert.match(everywhere.stdout, /^NAMESPACE +NAME /);
    assert.equal(everywhere.stdout.trimEnd().split('\n').length, 3);
    const names = await tapfix('list -n shop -o name');
    assert.equal(names.stdout, 'remediation.tapfix.dev/checkout-3f9a1c-1\n');
    const json = await tapfix('list -A -o json');
    const { items } = JSON.parse(json.stdout) as { items: Remediation[] };
    assert.deepEqual(items.map(({ metadata }) => metadata.name).sort(), [checkout, 'wordpress-3f9a1c-2']);
    assert.equal(items[0]!.spec.incident.class, 'CrashLoop');
    const wide = await tapfix('list -n shop -o wide');
    assert.match(wide.stdout, / ID .* BY .* ON IT /);
  });

  for (const columns of [60, 80, 120])
    test(`list in a window of ${columns} columns: no line is longer, and no colour where it is piped`, async (t) => {
      const { tapfix } = await aCluster(t, { fixes: [{ name: 'a-service-with-a-rather-long-name' }, { n: 2 }] });
      const { stdout, code } = await tapfix('list -A', { COLUMNS: `${columns}`, NO_COLOR: '1' });
      assert.equal(code, 0);
      const lines = stdout.trimEnd().split('\n');
      assert.equal(lines.length, 3);
      assert.deepEqual(
        lines.filter((line) => line.length > columns),
        [],
      );
      // oxlint-disable-next-line no-control-regex
      assert.doesNotMatch(stdout, /\u001b/);
      assert.match(stdout, /checkout-3f9a1c-2 /);
      assert.match(stdout, /a-service-with-a-\S*-3f9a1c-1 /);
      assert.match(lines[0]!, /^NAMESPACE +NAME .*PHASE/);
      const shown = await tapfix('show shop/checkout', { COLUMNS: `${columns}` });
      const prose = shown.stdout.split('\n').filter((line) => line.length > columns && !isExact(line));
      assert.deepEqual(prose, []);
    });

  test('show: everything about one, by its name, its workload, NAMESPACE/NAME and its short id', async (t) => {
    const { tapfix, fix } = await aCluster(t, { fixes: [{}] });
    const id = shortIdOf(await fix(checkout));
    for (const name of [`${checkout} -n shop`, 'checkout -n shop', 'shop/checkout', id, id.slice(1)]) {
      const { code, stdout, stderr } = await tapfix(`show ${name}`);
      assert.deepEqual([name, code, stderr], [name, 0, '']);
      assert.match(stdout, /checkout is down, 0\/3 ready/);
      assert.match(stdout, /app image {2}shop\/checkout:1\.42 → shop\/checkout:1\.41/);
      assert.match(stdout, new RegExp(`Short id ${id}\\ntapfix approve shop/${checkout}`));
    }
    const { stdout } = await tapfix('show shop/checkout -o yaml');
    assert.match(stdout, /^kind: Remediation$/m);
  });

  test('approve --yes: the record has the decision under the own name of the person', async (t) => {
    const { tapfix, fix } = await aCluster(t, { fixes: [{}] });
    const { code, stdout, stderr } = await tapfix('approve shop/checkout --yes');
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /1\.42 → shop\/checkout:1\.41/);
    assert.match(stdout, new RegExp(`^Approved shop/${checkout} as ${ada};`, 'm'));
    const { at, ...approval } = (await fix(checkout)).spec.approval;
    assert.deepEqual(approval, { state: 'Approved', by: ada, via: 'cli' });
    assert.ok(Math.abs(Date.parse(at!) - Date.now()) < 60_000);
    const again = await tapfix('approve shop/checkout --yes');
    assert.equal(again.code, 1);
    assert.match(again.stderr, /^shop\/checkout-3f9a1c-1: You approved this .+ ago\.\n$/);
    const rejected = await tapfix('reject shop/checkout');
    assert.match(rejected.stderr, /You approved this/);
  });

  test('approve where nobody can be asked: what would be done is shown, and nothing is done', async (t) => {
    const { tapfix, fix } = await aCluster(t, { fixes: [{}] });
    const { code, stdout, stderr } = await tapfix('approve shop/checkout');
    assert.equal(code, 2);
    assert.match(stdout, /1\.42 → /);
    assert.equal(stderr, 'nobody can be asked, because this is no terminal: approve with --yes what you have read\n');
    assert.equal((await fix(checkout)).spec.approval.state, 'Pending');
  });

  test('approve on a terminal: Ctrl-C and no are a no, and a yes is a yes', async (t) => {
    const { env, fix } = await aCluster(t, { fixes: [{}] });
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const command = ['env', ...variables, process.execPath, join(root, 'bin/tapfix.js'), 'approve', 'shop/checkout'];
    const answers = [
      ['\u0003', 1],
      ['n\r', 1],
      ['y\r', 0],
    ] as const;
    for (const [key, code] of answers) {
      const window = startEmulator(t, { columns: 80, rows: 24, command, cwd: root });
      await window.sees('app image  shop/checkout:1.42', 'Roll back to 1.41? [y/N]');
      window.press(key);
      assert.deepEqual([key, await window.ended()], [key, code]);
      assert.match(window.screen(), code === 0 ? /Approved shop\/checkout/ : /Nothing was done\./);
      assert.equal((await fix(checkout)).spec.approval.state, code === 0 ? 'Approved' : 'Pending');
    }
  });

  const undecidable: [string, FixOptions, RegExp][] = [
    ['expired', { phase: 'Expired' }, /: This expired at .+; nothing was changed\.$/],
    [
      'decided by somebody else',
      {
        approval: {
          state: 'Rejected',
          by: 'telegram:7',
          at: new Date(Date.now() - 10_800_000).toISOString(),
          via: 'telegram',
        },
      },
      /: telegram:7 rejected this 3 h ago\.$/,
    ],
    ['not rehearsed yet', { unrehearsed: true }, /: The dry run is still under way; try again in a moment\.$/],
    [
      'refused in the rehearsal',
      {
        unrehearsed: true,
        conditions: [condition('Rehearsed', '02:12:36', { status: 'False', message: 'no such image' })],
      },
      /: The dry run failed: no such image$/,
    ],
    [
      'not confirmed',
      {
        unrehearsed: true,
        conditions: [condition('Rehearsed', '02:12:36')],
        status: { preview: { diff: 'x', targetHash: 'abc', at: '2026-11-16T02:12:36Z' } },
      },
      /: The controller is still checking it; try again in a moment\.$/,
    ],
    ['healed by itself', { phase: 'Resolved' }, /: It is healthy again by itself; nothing was done\.$/],
  ];
  for (const [name, options, line] of undecidable)
    test(`approve what is ${name}: one sentence`, async (t) => {
      const { tapfix, fix } = await aCluster(t, { fixes: [options] });
      const before = (await fix(checkout)).spec.approval.state;
      const { code, stdout, stderr } = await tapfix('approve shop/checkout --yes');
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr.trimEnd(), line);
      assert.doesNotMatch(stderr.trimEnd(), /\n/);
      assert.equal((await fix(checkout)).spec.approval.state, before);
    });

  test('reject with a reason, ack, snooze: the same annotations as from chat', async (t) => {
    const { tapfix, fix } = await aCluster(t, { fixes: [{}, { n: 2, name: 'wordpress', namespace: 'blog' }] });
    assert.match(
      (await tapfix('ack shop/checkout')).stdout,
      /^You are on shop\/checkout-3f9a1c-1; nobody is reminded for two hours\.\n$/,
    );
    assert.match((await tapfix('ack shop/checkout')).stderr, /^you are on shop\/checkout already\n$/);
    assert.match((await tapfix('snooze shop/checkout 2h')).stdout, /^shop\/checkout-3f9a1c-1 is silent until /);
    const { annotations } = (await fix(checkout)).metadata;
    assert.equal(annotations?.['tapfix.dev/acknowledged-by'], ada);
    const quietMs = Date.parse(annotations?.['tapfix.dev/acknowledged-until'] ?? '') - Date.now();
    assert.ok(quietMs > 7_100_000 && quietMs <= 7_200_000, String(quietMs));
    const leftMs = Date.parse(annotations?.['tapfix.dev/snoozed-until'] ?? '') - Date.now();
    assert.ok(leftMs > 7_100_000 && leftMs <= 7_200_000, String(leftMs));
    assert.equal((await tapfix('snooze shop/checkout off')).code, 0);
    assert.equal((await fix(checkout)).metadata.annotations?.['tapfix.dev/snoozed-until'], undefined);
    assert.match(
      (await tapfix('snooze shop/checkout 9d')).stderr,
      /^between 1m and 7d, please: tapfix snooze shop\/checkout 1h\n$/,
    );
    assert.equal((await tapfix('snooze shop/checkout soon')).code, 2);
    const { code, stdout } = await tapfix('reject blog/wordpress we roll forward');
    assert.deepEqual([code, stdout], [0, 'Rejected blog/wordpress-3f9a1c-2; nothing is changed.\n']);
    const { at: _, ...approval } = (await fix('wordpress-3f9a1c-2', 'blog')).spec.approval;
    assert.deepEqual(approval, { state: 'Rejected', by: ada, via: 'cli', note: 'we roll forward' });
    assert.match(
      (await tapfix('ack blog/wordpress')).stdout,
      /^You are on blog\/wordpress-3f9a1c-2;/,
      'it is still broken',
    );
  });

  test('a name that is not there, or that several have', async (t) => {
    const twice = { n: 3, name: 'checkout' };
    const { tapfix } = await aCluster(t, {
      fixes: [
        {},
        {
          ...twice,
          incident: { key: 'shop/StatefulSet/checkout', object: { kind: 'StatefulSet', name: 'checkout', uid: 'u' } },
        },
        { n: 2, name: 'wordpress', namespace: 'blog' },
      ],
    });
    const near = await tapfix('show shop/chekcout');
    assert.deepEqual(
      [near.code, near.stderr],
      [1, 'nothing is recorded about shop/chekcout in namespace shop: did you mean checkout?\n'],
    );
    const elsewhere = await tapfix('approve wordpress --yes');
    assert.deepEqual(
      [elsewhere.code, elsewhere.stderr],
      [1, 'nothing is recorded about wordpress in namespace default: did you mean blog/wordpress?\n'],
    );
    assert.match(
      (await tapfix('show #aaaaaa')).stderr,
      /^nothing is recorded about #aaaaaa in namespace default; tapfix list -A shows everything that is\n$/,
    );
    const several = await tapfix('approve shop/checkout --yes');
    assert.equal(several.code, 1);
    assert.match(
      several.stderr,
      /^"shop\/checkout" may be any of these; write its name:\n {2}shop\/checkout-3f9a1c-1 {2}\(Deployment checkout, CrashLoop\)\n {2}shop\/checkout-3f9a1c-3 {2}\(StatefulSet checkout, CrashLoop\)\n$/,
    );
    assert.equal((await tapfix('show a/b/c')).code, 2);
    assert.equal((await tapfix('show blog/wordpress -n shop')).code, 2);
  });

  test('without the rights: which role it takes, and how somebody grants it', async (t) => {
    const { tapfix, fix } = await aCluster(t, { fixes: [{}], forbidden: /^PATCH / });
    for (const line of ['approve shop/checkout --yes', 'reject shop/checkout', 'ack shop/checkout']) {
      const { code, stderr } = await tapfix(line);
      assert.equal(code, 1);
      assert.match(stderr, /^you may not (decide|change this) in namespace shop: User "\[email\]" cannot do that\n/);
      assert.match(
        stderr,
        /kubectl -n shop create rolebinding tapfix-approver-ada-example-com --clusterrole=tapfix-approver --user=ada@example\.com\n$/,
      );
    }
    assert.equal((await fix(checkout)).spec.approval.state, 'Pending');
  });

  test('without the right to look everywhere: the namespace has to be named', async (t) => {
    const { tapfix } = await aCluster(t, {
      fixes: [{}],
      forbidden: /^GET \/apis\/tapfix.dev\/v1alpha1\/remediations$/,
    });
    const { code, stderr } = await tapfix('list -A');
    assert.equal(code, 1);
    assert.match(stderr, /^you may not look in all namespaces; name one with -n: User/);
    assert.equal((await tapfix('list -n shop')).code, 0);
    assert.match((await tapfix('show wordpress')).stderr, /^nothing is recorded about wordpress in namespace default;/);
  });

  test('a cluster without tapfix, a context that is not there, an API server that is away', async (t) => {
    const { tapfix } = await aCluster(t, { isWithoutDefinitions: true });
    const bare = await tapfix('list -A');
    assert.deepEqual(
      [bare.code, bare.stderr],
      [
        1,
        "the cluster does not know tapfix's resources: kubectl apply --server-side -f deploy/manifests brings them\n",
      ],
    );
    assert.match((await tapfix('status')).stderr, /^tapfix is not installed in namespace tapfix of http:/);
    const context = await tapfix('list --context nowhere');
    assert.deepEqual(
      [context.code, context.stderr],
      [2, 'no context "nowhere" in the kubeconfig; it has prod, staging\n'],
    );
    const { env } = await aSetup(t);
    const away = await startTapfix(t, ['list'], { env }).ended();
    assert.equal(away.code, 1);
    assert.match(away.stderr, /(^|\n)cannot reach the API server http:\/\/127\.0\.0\.1:1: [^\n]+\n$/);
  });

  test('who waits longer than two seconds reads for what, on standard error', async (t) => {
    const { tapfix, url } = await aCluster(t, { fixes: [{}], slow: /remediations/ });
    const { code, stdout, stderr } = await tapfix('list -n shop -o name');
    assert.deepEqual(
      [code, stdout, stderr],
      [0, `remediation.tapfix.dev/${checkout}\n`, `waiting for the API server ${url} (Ctrl-C ends this)\n`],
    );
  });

  test('mute: a pattern for a while, what is muted, and no longer', async (t) => {
    const { api, tapfix } = await aCluster(t);
    assert.match(
      (await tapfix('mute shop-* 1h')).stderr,
      /^there is no ConfigMap tapfix-mutes in tapfix: apply the manifests again\n$/,
    );
    await api.create({ kind: 'ConfigMap', namespace: 'tapfix' }, { metadata: { name: 'tapfix-mutes' } });
    assert.equal((await tapfix('mute')).stdout, 'Nothing is muted.\n');
    assert.match((await tapfix('mute shop-* 2h')).stdout, /^shop-\* is muted until /);
    assert.match((await tapfix('mute')).stdout, /^shop-\* until .+ by ada@example\.com\n$/);
    assert.equal((await tapfix('mute shop-* off')).stdout, 'shop-* is no longer muted.\n');
    assert.equal((await tapfix('mute')).stdout, 'Nothing is muted.\n');
    assert.equal((await tapfix('mute Shop! 1h')).code, 2);
    assert.equal((await tapfix('mute shop-* tomorrow')).code, 2);
  });

  test('status: a role that works, one that cannot pull its image, and what is open', async (t) => {
    const { api, tapfix } = await aCluster(t, {
      fixes: [{}, { n: 2, name: 'wordpress', namespace: 'blog', phase: 'Applying' }],
    });
    await installed(api, 'watcher', { ready: true });
    await installed(api, 'controller', { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } });
    const { code, stdout } = await tapfix('status');
    assert.equal(code, 1);
    assert.match(stdout, /^tapfix in namespace tapfix of http:\/\/127\.0\.0\.1:\d+, .+$/m);
    assert.match(stdout, /^watcher {5}1\/1 ready, version 0\.1\.0, tapfix-watcher-a leads$/m);
    assert.match(
      stdout,
      /^controller {2}0\/1 ready, version 0\.1\.0, nobody leads, pod tapfix-controller-a: ImagePullBackOff: no such image$/m,
    );
    assert.match(stdout, /^open {8}2 broken: 2 critical; 1 waits for a decision, 1 is being fixed$/m);
    assert.match(stdout, /^muted {7}nothing$/m);
    const version = await tapfix('version');
    assert.match(
      version.stdout,
      /^tapfix {6}version \S+\nwatcher {5}version 0\.1\.0\ncontroller {2}version 0\.1\.0\n$/,
    );
  });

  test('connect and logs where nothing can be reached: the reason at once', async (t) => {
    const { api, tapfix } = await aCluster(t);
    assert.match(
      (await tapfix('connect')).stderr,
      /^there is no Deployment tapfix-watcher in namespace tapfix: tapfix is not installed there/,
    );
    assert.match(
      (await tapfix('logs controller')).stderr,
      /^there is no Deployment tapfix-controller in namespace tapfix/,
    );
    await installed(api, 'watcher', { waiting: { reason: 'ErrImagePull', message: 'no such image' } });
    const { code, stdout, stderr } = await tapfix('connect watcher');
    assert.deepEqual(
      [code, stdout, stderr],
      [1, '', 'the watcher is not ready: pod tapfix-watcher-a: ErrImagePull: no such image\n'],
    );
  });

  test('version --client asks no cluster, and completion is a script that bash takes', async (t) => {
    const offline = await startTapfix(t, ['version', '--client']).ended();
    assert.match(offline.stdout, /^tapfix {6}version \d+\.\d+\.\d+\n$/);
    const { stdout } = await startTapfix(t, ['completion', 'bash']).ended();
    const complete = `${stdout}
COMP_WORDS=(tapfix ap); COMP_CWORD=1; _tapfix; echo "\${COMPREPLY[@]}"
COMP_WORDS=(tapfix logs con); COMP_CWORD=2; _tapfix; echo "\${COMPREPLY[@]}"
COMP_WORDS=(tapfix list --al); COMP_CWORD=2; _tapfix; echo "\${COMPREPLY[@]}"`;
    const { stdout: said, status } = spawnSync('bash', ['-c', complete], { encoding: 'utf8' });
    assert.deepEqual([status, said], [0, 'approve\ncontroller\n--all-namespaces\n']);
  });

  test('kubectl starts it by its other name, and the usage is that of kubectl', async (t) => {
    const program = join(root, 'bin/kubectl-tapfix.js');
    const { stdout } = await startTapfix(t, ['approve', '--help'], { program }).ended();
    assert.match(stdout, /^Usage: kubectl tapfix approve \[options\] <name>$/m);
    assert.match(stdout, /^ {2}kubectl tapfix approve shop\/checkout$/m);
    const { code, stderr } = await startTapfix(t, ['aprove'], { program }).ended();
    assert.deepEqual(
      [code, stderr],
      [2, "tapfix: unknown command 'aprove' (Did you mean approve?) (see kubectl tapfix --help)\n"],
    );
  });
});

interface PodState {
  ready?: boolean;
  waiting?: object;
}

/** One role of tapfix with one pod in that state; nothing makes it go on. */
async function installed(
  api: ReturnType<typeof localApi>,
  role: string,
  { ready = false, waiting }: PodState,
): Promise<void> {
  const namespace = 'tapfix';
  const name = `tapfix-${role}`;
  const labels = { 'app.kubernetes.io/name': 'tapfix', 'app.kubernetes.io/component': role };
  const spec = { containers: [{ name: 'tapfix', image: 'registry.example.com/tapfix:0.1.0' }] };
  const status = async (kind: 'Deployment' | 'Pod', of: string, body: object): Promise<void> =>
    void (await api.patch<KubeObject>({ kind, namespace, name: of, subresource: 'status' }, 'merge', { status: body }));
  await api.create(
    { kind: 'Deployment', namespace },
    {
      metadata: { name },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
  );
  await status('Deployment', name, ready ? { replicas: 1, readyReplicas: 1 } : { replicas: 1 });
  await api.create({ kind: 'Pod', namespace }, { metadata: { name: `${name}-a`, labels }, spec });
  await status('Pod', `${name}-a`, {
    phase: ready ? 'Running' : 'Pending',
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    containerStatuses: [
      { name: 'tapfix', image: 'x', imageID: '', ready, restartCount: 0, state: waiting ? { waiting } : {} },
    ],
  });
  const now = new Date().toISOString().replace('Z', '000Z');
  const lease = { holderIdentity: ready ? `${name}-a_0a1b2c` : '', leaseDurationSeconds: 15, renewTime: now };
  await api.create({ kind: 'Lease', namespace }, { metadata: { name }, spec: lease });
}
