import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Remediation, shortIdOf } from '../../src/kube/remediation.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { type Chat, startChat } from './support/chat.ts';
import { breakByQuota, fixInPhase, onlyFix } from './support/incidents.ts';
import { installTapfix, removeDeployments } from './support/tapfix.ts';

/** The command line of people with their own kubeconfig, while tapfix runs as pods of deploy/manifests. */
const program = join(import.meta.dirname, '../../bin/tapfix.js');
let cluster: Cluster;
let chat: Chat;
let shop: string;
const as: Record<string, string> = {};

before(async () => {
  cluster = await joinCluster();
  chat = await startChat(cluster.nodeAddress);
  await installTapfix(cluster, { apiRoot: chat.apiRoot, include: ['e2e-cli-*'] });
  shop = await cluster.freshNamespace('e2e-cli');
  as['admin'] = cluster.kubeconfig;
  for (const user of ['ada', 'bob']) as[user] = await cluster.userKubeconfig(user);
  const bind = (role: string, user: string): Promise<string> =>
    cluster.kubectl([
      '-n',
      shop,
      'create',
      'rolebinding',
      `${role}-${user}`,
      `--clusterrole=${role}`,
      `--user=${user}`,
    ]);
  await bind('tapfix-approver', 'ada');
  await bind('tapfix-reader', 'bob');
});
after(async () => {
  await removeDeployments(cluster);
  await chat.close();
});

interface Running {
  stdout(): string;
  stderr(): string;
  ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

function start(who: string, words: readonly string[]): Running {
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', KUBECONFIG: as[who] };
  const child = spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { stdout: () => stdout, stderr: () => stderr, ended, kill: (signal) => void child.kill(signal) };
}

async function tapfix(who: string, line: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const running = start(who, line.split(' '));
  const code = await running.ended;
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}

describe('a decision', () => {
  let fix: Remediation;

  test('is shown to who may read, and refused in words to who may not decide', async () => {
    await breakByQuota(cluster, shop);
    fix = await cluster.waitFor(
      'a proposal that is checked',
      async () => {
        const one = await onlyFix(cluster, shop);
        return one?.status?.conditions?.some(({ type, status }) => type === 'Confirmed' && status === 'True') && one;
      },
      90_000,
    );
    const listed = await tapfix('bob', `list -n ${shop}`);
    assert.deepEqual([listed.code, listed.stderr], [0, '']);
    assert.match(listed.stdout, new RegExp(`^${fix.metadata.name} .*QuotaExceeded.*Proposed`, 'm'));
    const everywhere = await tapfix('bob', 'list -A');
    assert.match(everywhere.stderr, /^you may not look in all namespaces; name one with -n: /);
    const { code, stderr } = await tapfix('bob', `approve ${shop}/platform-hardening --yes`);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^you may not decide in namespace ${shop}: .*bob`));
    assert.match(stderr, /--clusterrole=tapfix-approver --user=bob\n$/);
    // Who may change records but not decide is refused by the admission policy.
    const role = [
      '-n',
      shop,
      'create',
      'role',
      'patcher',
      '--verb=get,list,patch',
      '--resource=remediations.tapfix.dev',
    ];
    await cluster.kubectl(role);
    await cluster.kubectl(['-n', shop, 'create', 'rolebinding', 'patcher', '--role=patcher', '--user=bob']);
    await cluster.waitFor(
      'the refusal of the policy',
      async () =>
        /takes the verb "approve"/.test((await tapfix('bob', `approve ${shop}/platform-hardening --yes`)).stderr),
      30_000,
    );
    assert.equal((await onlyFix(cluster, shop))?.spec.approval.state, 'Pending');
  });

  test('of a person with only tapfix-approver works, under the own name, and is carried out', async () => {
    const { code, stdout, stderr } = await tapfix('ada', `approve ${shortIdOf(fix)} -n ${shop} --yes`);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Approved .+ as ada;/m);
    const { spec } = (await onlyFix(cluster, shop))!;
    assert.deepEqual([spec.approval.state, spec.approval.by, spec.approval.via], ['Approved', 'ada', 'cli']);
    const again = await tapfix('ada', `reject ${shop}/platform-hardening`);
    assert.match(again.stderr, /: You approved this .+ ago\.\n$/);
    await fixInPhase(cluster, shop, 'Recovered', 90_000);
    const shown = await tapfix('ada', `show ${shop}/platform-hardening`);
    assert.match(shown.stdout, /approved by ada/);
  });
});

test('status and logs: both roles work, and the log is that of the leader', async () => {
  const { code, stdout } = await tapfix('admin', 'status');
  assert.match(stdout, /^watcher +1\/1 ready, version \S+, tapfix-watcher-\S+ leads$/m);
  assert.match(stdout, /^controller +1\/1 ready, version \S+, tapfix-controller-\S+ leads$/m);
  assert.equal(code, 0, stdout);
  const log = await tapfix('admin', 'logs controller');
  assert.equal(log.code, 0);
  assert.match(log.stdout, /tapfix started/);
  const following = start('admin', ['logs', '-f', '--tail', '1']);
  await cluster.waitFor('a line', async () => following.stdout().includes('\n'), 15_000);
  following.kill('SIGINT');
  assert.equal(await following.ended, 0);
});

test('kubectl finds it through PATH, as a plugin', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapfix-plugin-'));
  await symlink(join(dirname(program), 'kubectl-tapfix.js'), join(folder, 'kubectl-tapfix'));
  const before = process.env['PATH'];
  process.env['PATH'] = [folder, dirname(process.execPath), before].join(delimiter);
  try {
    const kubeconfig = as['ada']!;
    assert.match(await cluster.kubectl(['tapfix', 'list', '-n', shop], { kubeconfig }), /QuotaExceeded/);
    const refusal = await cluster.kubectl(['tapfix', 'aprove'], { kubeconfig, expectFailure: true });
    assert.match(refusal, /see kubectl tapfix --help/);
  } finally {
    process.env['PATH'] = before;
    await rm(folder, { recursive: true, force: true });
  }
});

describe('connect', () => {
  const printed = (running: Running, pattern: RegExp, timeoutMs = 60_000): Promise<RegExpExecArray> =>
    cluster.waitFor(
      `${pattern}`,
      async () => pattern.exec(running.stdout() + running.stderr()) ?? undefined,
      timeoutMs,
    );
  const connecting = (t: TestContext, ...words: string[]): Running => {
    const running = start('admin', ['connect', ...words]);
    t.after(() => running.kill('SIGKILL'));
    return running;
  };
  const answers = (url: string): Promise<boolean> =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );

  test('leads to the pod, on a free port if the wanted one is taken, and to the next pod when it is replaced', async (t) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    t.after(() => void other.close());
    const taken = (other.address() as AddressInfo).port;
    const running = connecting(t, 'watcher', '--port', String(taken));
    const [, url] = await printed(running, /(http:\/\/127\.0\.0\.1:\d+) leads to pod tapfix-watcher-/);
    assert.match(running.stderr(), new RegExp(`^port ${taken} of this machine is taken`, 'm'));
    assert.ok(await answers(url!), running.stderr());
    await cluster.kubectl([
      '-n',
      'tapfix',
      'delete',
      'pod',
      '-l',
      'app.kubernetes.io/component=watcher',
      '--wait=false',
    ]);
    await printed(running, /^connected to pod tapfix-watcher-/m);
    await cluster.waitFor('the new pod to answer there', () => answers(url!), 20_000);
    running.kill('SIGINT');
    assert.equal(await running.ended, 0);
  });

  test('a pod that no node takes, one whose image is not there, and none at all: the reason', async (t) => {
    const patch = (body: object): Promise<string> =>
      cluster.kubectl([
        '-n',
        'tapfix',
        'patch',
        'deploy/tapfix-controller',
        '--type=strategic',
        '-p',
        JSON.stringify(body),
      ]);
    const template = (spec: object): object => ({
      spec: { strategy: { type: 'Recreate', rollingUpdate: null }, template: { spec } },
    });
    await patch(template({ nodeSelector: { nowhere: 'true' } }));
    await sleep(2_000); // Recreate takes the old pod first
    const pending = connecting(t, 'controller');
    assert.equal(await pending.ended, 1);
    assert.match(pending.stderr(), /the controller is not ready: pod \S+ is Pending: .*node/);

    await patch(
      template({
        nodeSelector: null,
        containers: [{ name: 'tapfix', image: 'localhost/tapfix:none', imagePullPolicy: 'Never' }],
      }),
    );
    await sleep(2_000);
    const pulling = connecting(t, 'controller');
    assert.equal(await pulling.ended, 1);
    assert.match(pulling.stderr(), /the controller is not ready: pod \S+: ErrImageNeverPull: /);

    await cluster.kubectl(['-n', 'tapfix', 'delete', 'deploy/tapfix-controller']);
    const missing = await tapfix('admin', 'connect controller');
    assert.match(missing.stderr, /^there is no Deployment tapfix-controller in namespace tapfix/);
    assert.equal((await tapfix('admin', 'status')).code, 1);
  });
});
