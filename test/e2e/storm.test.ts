import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClosableApi, createApi } from '../../src/kube/client.ts';
import { loadKubeConfig } from '../../src/kube/kubeconfig.ts';
import type { Notice } from '../../src/kube/notice.ts';
import { phaseOf, type Remediation } from '../../src/kube/remediation.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { runKubelet } from '../../src/sim/kubelet/kubelet.ts';
import type { Behaviours } from '../../src/sim/kubelet/pod-life.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { startFakeSlack } from '../support/fake-slack.ts';
import { botToken, startFakeTelegram } from '../support/fake-telegram.ts';
import { chatId } from './support/chat.ts';
import { approve, openInSlack, openInTelegram, type Page, shownAgain, turned } from './support/show-all.ts';
import { slackChannel } from './support/slack.ts';
import { installResources, type Running, seenHealthy, startProcess } from './support/tapfix.ts';

/**
 * A library that everybody uses breaks two hundred workloads: real control plane, pretended nodes, and
 * chats that refuse what the vendors refuse. Nobody's phone may ring more than once, and nothing may be lost.
 */
const count = 200;
/** More would only keep a small machine from failing them all at once. */
const replicas = 2;
const names = Array.from({ length: count }, (_, n) => `svc-${String(n + 1).padStart(3, '0')}`);
const nodes = Array.from({ length: 5 }, (_, n) => `stormy-${n + 1}`);
const taint = { key: 'stormy', value: 'true', effect: 'NoSchedule' };
/** Within this time each of the workloads fails. */
const withinMs = 30_000;

let cluster: Cluster;
let api: ClosableApi;
let nodesAreOn: Nodes;
let namespace: string;
const running: Running[] = [];
let telegram: Awaited<ReturnType<typeof startFakeTelegram>>;
let slack: Awaited<ReturnType<typeof startFakeSlack>>;

const isNew = (image: string): boolean => image.endsWith(':2');

interface Nodes {
  off(): Promise<void>;
}

/** The pretended nodes. Switched off and on again they take up the pods they had, and what those do may be another thing. */
function switchOn(behaviours: Behaviours): Nodes {
  const stop = new AbortController();
  const { ended } = runKubelet({
    api,
    clock: systemClock,
    log: createLog({ level: 'error', write: (line) => process.stderr.write(line) }),
    nodes: nodes.map((name) => ({
      name,
      pods: '250',
      cpu: '64',
      memory: '64Gi',
      labels: { pool: 'stormy' },
      taints: [taint],
    })),
    behaviours,
    signal: stop.signal,
  });
  return {
    async off() {
      stop.abort();
      await ended;
    },
  };
}

before(async () => {
  cluster = await joinCluster();
  telegram = await startFakeTelegram({ chats: [String(chatId)] });
  slack = await startFakeSlack({ channels: [slackChannel] });
  await installResources(cluster);
  namespace = await cluster.freshNamespace('e2e-storm');
  api = createApi({ kubeConfig: loadKubeConfig({ env: { KUBECONFIG: cluster.kubeconfig, HOME: cluster.dir } }) });
  nodesAreOn = switchOn(() => ({ do: 'run' }));
  process.env['SLACK_BOT_TOKEN'] = 'xoxb-fake-fake-fake-bot';
  process.env['SLACK_APP_TOKEN'] = 'xapp-fake-fake-fake-app';
  // That the second revision is not ready is not what breaks here.
  const patience = { ProbeFailing: '1h' };
  // Until both pods of a workload have failed it looks like one bad pod among healthy ones, which has another fix.
  const crashLoopFor = '15s';
  const config = {
    apiRoot: telegram.apiRoot,
    slackApi: slack.apiUrl,
    include: ['e2e-storm-*'],
    coalesce: '5s',
    crashLoopFor,
    patience,
  };
  for (const role of ['watcher', 'controller'] as const) {
    const kubeconfig = await cluster.serviceAccountKubeconfig('tapfix', `tapfix-${role}`);
    running.push(await startProcess({ role, kubeconfig, config, token: botToken }));
  }
});
after(async () => {
  for (const one of running) await one.kill();
  await cluster.kubectl(['delete', 'namespace', namespace, '--wait=false']);
  await sleep(5_000); // the pretended nodes see their pods off
  await nodesAreOn.off();
  await cluster.kubectl(['delete', 'node', ...nodes]);
  await api.close();
  await telegram.close();
  await slack.close();
});

const deployment = (name: string): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%', maxSurge: 0 } },
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 1,
        nodeSelector: { pool: 'stormy' },
        tolerations: [{ key: 'stormy', operator: 'Exists' }],
        containers: [{ name: 'app', image: 'shop/app:1' }],
      },
    },
  },
});
/** The second revision: its pods take the place of the first one's, run, and are never ready. */
const second = [
  { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'shop/app:2' },
  {
    op: 'add',
    path: '/spec/template/spec/containers/0/readinessProbe',
    value: { httpGet: { path: '/', port: 80 }, initialDelaySeconds: 3600 },
  },
];

interface Pod {
  metadata: { uid: string; name: string; labels?: Record<string, string> };
  spec: { containers: { image: string }[] };
  status?: { containerStatuses?: { restartCount: number; state: { running?: { startedAt: string } } }[] };
}
const startedAtMs = ({ status }: Pod): number | undefined => {
  const { running } = status?.containerStatuses?.[0]?.state ?? {};
  return running && Date.parse(running.startedAt);
};

async function eightAtATime(work: (name: string) => Promise<unknown>): Promise<void> {
  const left = [...names];
  const worker = async (): Promise<void> => {
    for (let name = left.shift(); name; name = left.shift()) await work(name);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

const fixes = (): Promise<Remediation[]> => cluster.list<Remediation>('remediations.tapfix.dev', namespace);
/** Posts and edits, but for the greeting when tapfix came here. */
const calls = (): Record<'telegram' | 'slack', number> => ({
  telegram: telegram.calls.filter((method) => ['sendMessage', 'editMessageText'].includes(method)).length - 1,
  slack: slack.calls.filter((method) => ['chat.postMessage', 'chat.update'].includes(method)).length - 1,
});

test('two hundred workloads of two pods are well', async () => {
  await eightAtATime((name) => api.create({ kind: 'Deployment', namespace }, deployment(name)));
  const isWell = async (): Promise<boolean> => {
    const all = await cluster.list<{ status?: { availableReplicas?: number } }>('deployments.apps', namespace);
    return all.length === count && all.every(({ status }) => status?.availableReplicas === replicas);
  };
  await cluster.waitFor('400 pods to be available', isWell, 240_000);
  await seenHealthy();
});

test('the second revision of each runs, all four hundred pods of it, and nobody is told anything', async () => {
  await eightAtATime((name) => api.patch({ kind: 'Deployment', namespace, name }, 'json', second));
  const isOut = async (): Promise<boolean> => {
    const pods = await cluster.list<Pod>('pods', namespace);
    return (
      pods.length === replicas * count && pods.every((pod) => isNew(pod.spec.containers[0]!.image) && startedAtMs(pod))
    );
  };
  await cluster.waitFor('400 pods of the second revision to run', isOut, 240_000);
  assert.deepEqual(calls(), { telegram: 0, slack: 0 });
});

/**
 * Every pod of the second revision crashes, and again three seconds after it is started. Returns,
 * for each workload, when the API server knew of each of its pods.
 */
function breakAll(): ReadonlyMap<string, readonly number[]> {
  const failedAtMs = new Map(names.map((name): [string, number[]] => [name, []]));
  const failedPods = new Set<string>();
  nodesAreOn = switchOn((object, { image = '' }) => {
    if (!isNew(image)) return { do: 'run' };
    const pod = object as Pod;
    const ranMs = Date.now() - (startedAtMs(pod) ?? Date.now());
    const isFirst = startedAtMs(pod) !== undefined && pod.status?.containerStatuses?.[0]?.restartCount === 0;
    const { uid, labels } = pod.metadata;
    const workload = labels!['app']!;
    if (!isFirst && !failedPods.has(uid)) failedAtMs.get(workload)!.push(Date.now());
    if (!isFirst) failedPods.add(uid);
    return { do: 'exit', code: 1, afterMs: isFirst ? ranMs + Math.random() * 2_000 : 3_000 };
  });
  return failedAtMs;
}

test('all two hundred fail within half a minute: at most three calls to each vendor in the first minute', async () => {
  await nodesAreOn.off();
  const failedAtMs = breakAll();
  const isTold = async (): Promise<boolean> => calls().telegram > 0 && calls().slack > 0;
  await cluster.waitFor('a message to each vendor', isTold, 120_000);
  await sleep(60_000);
  const made = calls();
  const failed = [...failedAtMs.values()].flat();
  const firsts = [...failedAtMs.values()].map((times) => Math.min(...times));
  const spreadMs = Math.max(...firsts) - Math.min(...firsts);
  const told = (await fixes()).length;
  console.log(
    `${firsts.length} workloads failed within ${(spreadMs / 1000).toFixed(1)} s (${failed.length} pods); ${told} incidents and calls to ${JSON.stringify(made)} in the first minute`,
  );
  assert.ok(made.telegram <= 3 && made.slack <= 3, JSON.stringify(made));
  assert.equal(failed.length, replicas * count);
  assert.ok(spreadMs <= withinMs, 'it was a storm');
});

test('nothing is lost: all of them are in messages, each in one of each vendor', async () => {
  const all = await cluster.waitFor(
    '200 Remediations',
    async () => ((await fixes()).length >= count ? fixes() : false),
    240_000,
  );
  assert.deepEqual([...new Set(all.map(({ spec }) => spec.incident.object.name))].sort(), names);
  const isWhole = async (): Promise<boolean> => {
    const notices = await cluster.list<Notice>('notices.tapfix.dev', 'tapfix');
    const told = (channel: string): string[] =>
      notices.filter(({ spec }) => spec.channel === channel).flatMap(({ spec }) => spec.members.map(({ uid }) => uid));
    const uids = all.map(({ metadata }) => metadata.uid).sort();
    return ['telegram', 'slack'].every((channel) => told(channel).sort().join() === uids.join());
  };
  await cluster.waitFor('each to be told once by each vendor', isWhole, 60_000);
  // It is edited every half a minute at most.
  const text = (): string => telegram.messages().find((one) => one.text.includes(' incidents in '))?.text ?? '';
  await cluster.waitFor('the message to say how many they are', async () => /^. 200 incidents/u.test(text()), 90_000);
  console.log(text().replace(/^/gm, '    '));
  assert.match(text(), /^🔴 200 incidents in .*, e2e\n200 crash: container app exits 1\n/);
});

/** The numbers of the workloads that can be rolled back on a page of the list, which is in the order of their names. */
const numbersOn = ({ buttons }: Page): Set<number> =>
  new Set(buttons.filter(({ text }) => text.endsWith(' Roll back')).map(({ text }) => Number(text.split(' ')[0])));

test('the first and one in the middle are approved from Telegram’s list, the last from Slack’s', async () => {
  const wanted = [1, 95, count] as const;
  const chosen = wanted.map((number) => names[number - 1]!);
  // What is not rehearsed yet has no button on the list.
  const isRehearsed = async (): Promise<boolean> =>
    (await fixes()).filter(({ status }) => status?.preview).length === count;
  await cluster.waitFor('all rehearsals', isRehearsed, 400_000);
  let page = await openInTelegram(cluster, telegram);
  assert.match(page.title, /1 to 10 of 200 incidents, page 1 of 20/);
  const reached = new Set<number>();
  for (let n = 1; n <= 20; n++) {
    page = await shownAgain(cluster, page, (shown) => numbersOn(shown).size === 10);
    for (const number of numbersOn(page)) reached.add(number);
    // A decided one has no button any more, so it is pressed after its page was read.
    if (n === 1) await approve(cluster, page, wanted[0]);
    if (n === 10) await approve(cluster, page, wanted[1]);
    if (n < 20) page = await turned(page, 'Next');
  }
  assert.equal(reached.size, count, 'every one of them is on some page');
  await approve(cluster, await turned(await openInSlack(cluster, slack), 'Last'), wanted[2]);
  const isApplied = async (): Promise<boolean> => {
    const live = await fixes();
    return chosen.every((name) =>
      ['Applied', 'Recovered'].includes(phaseOf(live.find(({ spec }) => spec.incident.object.name === name)!)),
    );
  };
  await cluster.waitFor(`${chosen.join(', ')} to be fixed`, isApplied, 240_000);
  const others = (await fixes()).filter(({ spec }) => spec.approval.state !== 'Pending');
  assert.deepEqual(others.map(({ spec }) => spec.incident.object.name).sort(), chosen.sort());
});

test('no vendor’s limit was reached, and nothing was said twice', () => {
  assert.deepEqual([telegram.refused(), slack.refused()], [0, 0]);
  assert.equal(telegram.messages().filter(({ text }) => /incidents in/.test(text)).length, 1);
  assert.equal(slack.messages().filter(({ text }) => /incidents in/.test(text)).length, 1);
});
