import { setTimeout as sleep } from 'node:timers/promises';
import { actions } from '../src/actions/table.ts';
import { runTapfix } from '../src/app/app.ts';
import { createTelegram } from '../src/channels/telegram/telegram.ts';
import { parseConfig } from '../src/config/load.ts';
import type { Api, KubeObject } from '../src/kube/api.ts';
import { systemClock } from '../src/lib/clock.ts';
import { createLog } from '../src/lib/log.ts';
import { customResourceDefinitions } from '../src/manifests/crd.ts';
import { createMetrics } from '../src/ops/metrics.ts';
import { createReadiness } from '../src/ops/readiness.ts';
import { createSim } from '../src/sim/sim.ts';
import { botToken, startFakeTelegram } from '../test/support/fake-telegram.ts';

/**
 * From a fault to the call of Telegram, and from a press to its acknowledgement: the whole program on a simulated API server,
 * with its own Telegram client against a strict fake over loopback (rendering, HTTP, polling and pacing included). One fault
 * after the other, each in a chat of its own, with no patience and no window to wait for. The vendor answers at once.
 */
export interface Telling {
  /** A pod's status is written, until sendMessage arrives; nothing can be done about it. */
  toChat: number[];
  /** The same where there is a fix: the card waits until the controller has rehearsed it, and has its button. */
  toOffer: number[];
  /** "I'm on it" leaves Telegram, until it is recorded and answerCallbackQuery arrives. */
  toAnswer: number[];
  /** The same of Approve, which reads the target and the person's rights once more. */
  toApproval: number[];
  /** The vendor has the message, until the Notice says so: in between a kill would repeat it. */
  window: number[];
}

const ada = 123456789;
const chatOf = (n: number): string => String(-100 - n);

const parsed = (namespaces: string[]) =>
  parseConfig(
    JSON.stringify({
      cluster: 'bench',
      namespaces: { include: ['bench-*'] },
      classes: { CrashLoop: { for: '0s' }, Unschedulable: { enabled: false } },
      notices: { coalesce: '0s' },
      approval: { approvers: [{ name: 'Ada', telegram: ada }] },
      channels: {
        telegram: { chat: -1, routes: namespaces.map((name, n) => ({ namespaces: [name], chat: Number(chatOf(n)) })) },
      },
    }),
    'bench',
  );

const named = (kind: string, name: string): object => ({ apiVersion: 'v1', kind, metadata: { name } });
const workload = (replicas: number): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'api' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'api' } },
    template: { metadata: { labels: { app: 'api' } }, spec: { containers: [{ name: 'app', image: 'shop/api:1' }] } },
  },
});
const container = { name: 'app', image: 'shop/api:1' };
const healthy = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: [
    { ...container, ready: true, restartCount: 0, state: { running: { startedAt: '2026-01-01T00:00:00Z' } } },
  ],
};
const crashingAt = (time: string): object => ({
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'False' }],
  containerStatuses: [
    {
      ...container,
      ready: false,
      restartCount: 3,
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' } },
      lastState: { terminated: { exitCode: 1, reason: 'Error', startedAt: time, finishedAt: time } },
    },
  ],
});

/** What is waited for, and when it came. */
function createArrivals() {
  const waiting = new Map<string, (atMs: number) => void>();
  const next = (method: string): Promise<number> =>
    Promise.race([
      new Promise<number>((resolve) => waiting.set(method, resolve)),
      sleep(20_000, undefined, { ref: false }).then(() => Promise.reject(new Error(`no ${method}`))),
    ]);
  const arrived = (method: string): void => {
    waiting.get(method)?.(performance.now());
    waiting.delete(method);
  };
  return { next, arrived };
}

export async function measureTelling(samples: number): Promise<Telling> {
  const found: Telling = { toChat: [], toOffer: [], toAnswer: [], toApproval: [], window: [] };
  // What is approved is carried out meanwhile: they are fewer, and further apart.
  const offers = Math.ceil(samples / 3);
  const isOffer = (n: number): boolean => n >= samples;
  const namespaces = Array.from({ length: samples + offers }, (_, n) => `bench-${n}`);
  const config = parsed(namespaces);
  if (!config.ok) throw new Error(JSON.stringify(config.problems));
  const log = createLog({ level: 'silent' });
  const sim = createSim({ clock: systemClock, log, nodes: 0, definitions: customResourceDefinitions(actions) });
  const stop = new AbortController();
  const ended = [sim.start(stop.signal)];
  const { api } = sim;
  for (const name of ['tapfix', ...namespaces]) await api.create({ kind: 'Namespace' }, named('Namespace', name));
  // Its token is what the controller acts with.
  await api.create({ kind: 'ServiceAccount', namespace: 'tapfix' }, named('ServiceAccount', 'tapfix-writer'));
  for (const [n, namespace] of namespaces.entries())
    await api.create({ kind: 'Deployment', namespace }, workload(isOffer(n) ? 2 : 1));

  const { next, arrived } = createArrivals();
  const telegram = await startFakeTelegram({ chats: ['-1', ...namespaces.map((_, n) => chatOf(n))], onCall: arrived });
  const channel = createTelegram({
    token: async () => botToken,
    apiRoot: telegram.apiRoot,
    chats: () => [],
    log,
    clock: systemClock,
  });
  let sentMs: number | undefined;
  const watched: Api = {
    ...api,
    async patch(ref, type, body, options) {
      const answer = await api.patch(ref, type, body, options);
      const isNoted = ref.kind === 'Notice' && (body as { status?: { message?: string } }).status?.message;
      if (isNoted && sentMs !== undefined) found.window.push(performance.now() - sentMs);
      if (isNoted) sentMs = undefined;
      return answer as never;
    },
  };
  ended.push(
    runTapfix({
      role: 'all',
      api: watched,
      clock: systemClock,
      log,
      current: () => config.config,
      ownNamespace: 'tapfix',
      identity: 'bench',
      timeZone: 'UTC',
      metrics: createMetrics(),
      readiness: createReadiness(),
      channels: new Map([['telegram', channel]]),
      signal: stop.signal,
    }).then(() => undefined),
  );
  await sleep(2_000); // everything is listed, and what was there before is absorbed
  const setStatus = (namespace: string, { metadata: { name } }: KubeObject, status: object) =>
    api.patch({ kind: 'Pod', namespace, name, subresource: 'status' }, 'merge', { status });

  async function press(chat: string, label: RegExp): Promise<number> {
    const shown = () => telegram.messages().find((message) => message.chat === chat)!;
    const button = () => shown().buttons.find(({ text }) => label.test(text));
    for (let waited = 0; !button(); waited += 10) {
      if (waited > 20_000) throw new Error(`no button ${label} on: ${shown().text}`);
      await sleep(10);
    }
    await sleep(200); // what is under way is over, and the next poll has begun
    const answered = next('answerCallbackQuery');
    const pressedMs = performance.now();
    const id = telegram.press(button()!.callback_data, { from: ada, message: shown().id, chat });
    const tookMs = (await answered) - pressedMs;
    await sleep(10);
    const { text, alert } = telegram.answers.find((answer) => answer.id === id)!;
    if (alert) throw new Error(text);
    return tookMs;
  }

  for (const [n, namespace] of namespaces.entries()) {
    const [bad, ...others] = await api.list<KubeObject>('Pod', namespace);
    for (const pod of others) await setStatus(namespace, pod, healthy);
    await sleep(isOffer(n) ? 1_500 : 200); // what the last one left to do is done
    const sent = next('sendMessage');
    const brokenMs = performance.now();
    await setStatus(namespace, bad!, crashingAt(new Date().toISOString()));
    sentMs = await sent;
    (isOffer(n) ? found.toOffer : found.toChat).push(sentMs - brokenMs);
    if (isOffer(n)) found.toApproval.push(await press(chatOf(n), /^Approve/));
    else found.toAnswer.push(await press(chatOf(n), /^I'm on it$/));
  }
  stop.abort();
  await Promise.race([Promise.all(ended), sleep(3_000)]);
  await telegram.close();
  return found;
}

const at = (values: readonly number[], share: number): string => {
  const sorted = values.toSorted((a, b) => a - b);
  return `${(sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN).toFixed(1)} ms`;
};

/** What is printed: p50, p99. */
export async function tellingInWords(samples: number): Promise<[string, string, string][]> {
  const { toChat, toOffer, toAnswer, toApproval, window } = await measureTelling(samples);
  return [
    ['fault to chat call, beyond patience and window, p50', at(toChat, 0.5), `p99 ${at(toChat, 0.99)}, 50 ms wanted`],
    ['the same with a fix, which is rehearsed first, p50', at(toOffer, 0.5), `p99 ${at(toOffer, 0.99)}`],
    ["press of I'm on it to its acknowledgement, p50", at(toAnswer, 0.5), `p99 ${at(toAnswer, 0.99)}`],
    ['press of Approve to its acknowledgement, p50', at(toApproval, 0.5), `p99 ${at(toApproval, 0.99)}`],
    ["vendor's taking it to our note of it, p50", at(window, 0.5), `p99 ${at(window, 0.99)}: a kill in it repeats`],
  ];
}
