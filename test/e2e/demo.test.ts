import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { appImages } from '../cluster/facts.ts';
import { type Chat, startChat } from './support/chat.ts';
import { fixInPhase } from './support/incidents.ts';
import { createScene, type Scene } from './support/scene.ts';
import { installResources, installTapfix, removeDeployments } from './support/tapfix.ts';

const root = new URL('../../', import.meta.url).pathname;
let cluster: Cluster;
before(async () => void (cluster = await joinCluster()));

interface Ended {
  code: number | null;
  text: string;
}

interface Running {
  text(): string;
  ended: Promise<Ended>;
  interrupt(): void;
  /** Nobody reads what it says any more, as behind `| head`. */
  leave(): void;
}

function start(command: string, args: readonly string[]): Running {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig, IMAGE: appImages[0] };
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, text }));
  return {
    text: () => text,
    ended,
    interrupt: () => void child.kill('SIGINT'),
    leave: () => void child.stdout.destroy(),
  };
}

const demo = (...args: string[]): Running =>
  start(process.execPath, [join(root, 'bin/tapfix.js'), 'demo', '--context', 'test', '--image', appImages[0], ...args]);

interface Named {
  metadata: { name: string };
}

/** Everything in the cluster that has to do with tapfix, by name. */
async function traces(): Promise<string[]> {
  const kinds = [
    'namespaces',
    'customresourcedefinitions',
    'clusterroles',
    'clusterrolebindings',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
  ];
  const found: string[] = [];
  for (const kind of kinds) {
    const names = (await cluster.kubectl(['get', kind, '-o', 'name'])).split('\n');
    found.push(...names.filter((name) => name.includes('tapfix')));
  }
  return found.sort();
}

const uninstall = (): Promise<string> =>
  cluster.kubectl(['delete', '--ignore-not-found', '--wait=true', '-f', join(root, 'deploy/manifests')]);

describe('tapfix demo --context on a cluster without tapfix', { timeout: 600_000 }, () => {
  before(async () => void (await uninstall()));

  test('breaks and heals a shop of its own, and leaves nothing behind', async () => {
    assert.deepEqual(await traces(), []);
    const { code, text } = await demo('--yes').ended;
    console.log(text.replace(/^/gm, '    '));
    assert.equal(code, 0, text);
    assert.equal(text.match(/^🟢/gm)?.length, 2, text);
    assert.match(text, /^🔴 checkout[^]*^🟢 checkout[^]*^🔴 Quota platform-hardening/mu, 'the rollback comes first');
    assert.match(text, /of the rights that were made for the fixes none is left/);
    assert.deepEqual(await traces(), []);
  });

  test('removes what it installed when it is interrupted in the middle', async () => {
    const run = demo('--yes', '--scenario', 'quota');
    await cluster.waitFor('the shop to be broken', async () => /Waiting for tapfix to notice/.test(run.text()), 90_000);
    run.interrupt();
    const { code, text } = await run.ended;
    assert.equal(code, 130, text);
    assert.match(text, /Everything is gone\./);
    assert.deepEqual(await traces(), []);
  });
});

describe('tapfix demo --context, and nobody reads on', { timeout: 600_000 }, () => {
  before(async () => void (await uninstall()));

  test('removes what it installed', async () => {
    const run = demo('--yes', '--scenario', 'quota');
    await cluster.waitFor('the shop to open', async () => /The shop opens/.test(run.text()), 90_000);
    assert.notDeepEqual(await traces(), []);
    run.leave();
    await run.ended;
    assert.deepEqual(await traces(), []);
  });
});

describe('tapfix demo --context on a cluster with tapfix', { timeout: 600_000 }, () => {
  before(() => installResources(cluster));

  test('leaves what was there as it was, whatever it shows', async () => {
    const was = await traces();
    for (const [scenario, fix] of Object.entries({ image: 'PatchDeploymentImage', crash: 'DeletePod' })) {
      const { code, text } = await demo('--yes', '--scenario', scenario).ended;
      assert.equal(code, 0, text);
      assert.ok(text.includes(`${fix} approved by`), text);
      assert.match(text, /Everything is there already/);
    }
    assert.deepEqual(await traces(), was);
    assert.deepEqual(await cluster.list<Named>('notices', 'tapfix'), []);
  });

  test('does not begin while tapfix runs there', async () => {
    await cluster.kubectl(['-n', 'tapfix', 'create', 'deployment', 'tapfix-controller', `--image=${appImages[0]}`]);
    try {
      const { code, text } = await demo('--yes').ended;
      assert.equal(code, 2);
      assert.match(text, /^tapfix runs in this cluster already .* scale it to 0/m);
    } finally {
      await cluster.kubectl(['-n', 'tapfix', 'delete', 'deployment', 'tapfix-controller']);
    }
  });

  test('says in one line that a context does not exist', async () => {
    const args = [join(root, 'bin/tapfix.js'), 'demo', '--context', 'nowhere', '--yes'];
    const { code, text } = await start(process.execPath, args).ended;
    assert.equal(code, 2);
    assert.equal(text.trim().split('\n').length, 1, text);
  });
});

describe('deploy/demo, with tapfix in the cluster', { timeout: 600_000 }, () => {
  let chat: Chat;
  let scene: Scene;
  const script = (name: string, ...args: string[]): Promise<Ended> =>
    start(join(root, 'deploy/demo', name), args).ended;

  before(async () => {
    chat = await startChat(cluster.nodeAddress);
    scene = createScene(cluster, chat);
    await installTapfix(cluster, {
      apiRoot: chat.apiRoot,
      include: ['tapfix-shop'],
      quotaFor: '10s',
      stableFor: '30s',
    });
  });
  after(async () => {
    await removeDeployments(cluster);
    await chat.close();
  });

  const runbook = readFileSync(join(root, 'deploy/demo/RUNBOOK.md'), 'utf8');
  /** A machine that does other things as well gets three times as long, and half a minute in any case. */
  function isAsWritten(what: string, took: number, row: RegExp): void {
    const written = Number(row.exec(runbook)?.[1]);
    assert.ok(written > 0, `the runbook has no time for ${what}`);
    assert.ok(took <= Math.max(3 * written, 30), `${what} took ${took} s, the runbook says ${written} s`);
  }

  test('break.sh breaks the shop, a tap mends it, and the runbook has the times right', async () => {
    const broken = await script('break.sh');
    const brokenAt = Date.now();
    assert.equal(broken.code, 0, broken.text);
    const card = await scene.withButton('tapfix-shop', /Delete quota/);
    const seconds = (since: number): number => Math.round((Date.now() - since) / 100) / 10;
    const cardAfter = seconds(brokenAt);
    assert.match(card.text, /Quota platform-hardening blocks 2 workloads/);
    await chat.press(card, /Delete quota/);
    await chat.press(await scene.withButton('tapfix-shop', /^Yes, delete/), /^Yes, delete/);
    const tappedAt = Date.now();
    const isWell = async (): Promise<boolean> => {
      const pods = await cluster.list<{ status: { phase: string } }>('pods', 'tapfix-shop');
      return pods.length === 5 && pods.every(({ status }) => status.phase === 'Running');
    };
    await cluster.waitFor('all five pods', isWell, 30_000);
    const podsAfter = seconds(tappedAt);
    await fixInPhase(cluster, 'tapfix-shop', 'Recovered', 90_000);
    const greenAfter = seconds(tappedAt);
    console.log(`    card after ${cardAfter} s, pods ${podsAfter} s after the tap, green after ${greenAfter} s`);
    isAsWritten('the card', cardAfter, /^\| \+ ([\d.]+) s .*one card/m);
    isAsWritten('all five pods', podsAfter, /^\| tap \+ ([\d.]+) s .*all five pods run again/m);
    isAsWritten('green', greenAfter, /^\| tap \+ ([\d.]+) s .*turns green/m);
  });

  test('break.sh does not break twice what is broken', async () => {
    assert.equal((await script('break.sh')).code, 0);
    const { code, text } = await script('break.sh');
    assert.equal(code, 2);
    assert.match(text, /it is broken already/);
  });

  test('reset.sh takes everything away, and says so when there is nothing', async () => {
    const first = await script('reset.sh');
    assert.equal(first.code, 0, first.text);
    assert.equal(await cluster.get('namespaces', undefined, 'tapfix-shop'), undefined);
    assert.match((await script('reset.sh')).text, /nothing to do/);
  });

  test('a mistyped option is refused with a line that says what there is', async () => {
    const { code, text } = await script('break.sh', '--contxt', 'x');
    assert.equal(code, 2);
    assert.match(text, /usage: break\.sh .*\nunknown option --contxt/s);
  });
});
