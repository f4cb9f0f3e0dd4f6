import { setTimeout as sleep } from 'node:timers/promises';
import { actions } from '../src/actions/table.ts';
import { runTapfix } from '../src/app.ts';
import type { Channel, Handlers } from '../src/channels/channel.ts';
import { parseConfig } from '../src/config/load.ts';
import type { Api, KubeObject } from '../src/kube/api.ts';
import { systemClock } from '../src/lib/clock.ts';
import { createLog } from '../src/lib/log.ts';
import { customResourceDefinitions } from '../src/manifests/crd.ts';
import { createMetrics } from '../src/ops/metrics.ts';
import { createReadiness } from '../src/ops/readiness.ts';
import { createSim } from '../src/sim/sim.ts';

/**
 * From a fault to the call of the chat, and from a press to its answer: the whole watcher on a simulated API server, one
 * fault after the other, each in a chat of its own, with no patience and no window to wait for. The vendor answers at once.
 */
export interface Telling {
  /** A pod's status is written, until the chat is called. */
  toChat: number[];
  /** "I'm on it" arrives, until it is recorded and answered. */
  toAnswer: number[];
  /** The vendor has answered, until the Notice says so: in between a kill would repeat the message. */
  window: number[];
}

const parsed = (namespaces: string[]) =>
  parseConfig(
    JSON.stringify({
      cluster: 'bench',
      namespaces: { include: ['bench-*'] },
      classes: { CrashLoop: { for: '0s' }, Unschedulable: { enabled: false } },
      notices: { coalesce: '0s' },
      approval: { approvers: [{ name: 'Ada', telegram: 1 }] },
      channels: {
        telegram: { chat: -1, routes: namespaces.map((name, n) => ({ namespaces: [name], chat: -100 - n })) },
      },
    }),
    'bench',
  );

const named = (kind: string, name: string): object => ({ apiVersion: 'v1', kind, metadata: { name } });
const workload = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'api' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'api' } },
    template: { metadata: { labels: { app: 'api' } }, spec: { containers: [{ name: 'app', image: 'shop/api:1' }] } },
  },
};
const crashing = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'False' }],
  containerStatuses: [
    {
      name: 'app',
      image: 'shop/api:1',
      ready: false,
      restartCount: 3,
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' } },
      lastState: { terminated: { exitCode: 1, reason: 'Error', startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:01Z' } },
    },
  ],
}; // prettier-ignore

export async function measureTelling(samples: number): Promise<Telling> {
  const found: Telling = { toChat: [], toAnswer: [], window: [] };
  const namespaces = Array.from({ length: samples }, (_, n) => `bench-${n}`);
  const config = parsed(namespaces);
  if (!config.ok) throw new Error(JSON.stringify(config.problems));
  const log = createLog({ level: 'silent' });
  const sim = createSim({ clock: systemClock, log, nodes: 0, definitions: customResourceDefinitions(actions) });
  const stop = new AbortController();
  const ended = [sim.start(stop.signal)];
  const { api } = sim;
  for (const name of ['tapfix', ...namespaces]) await api.create({ kind: 'Namespace' }, named('Namespace', name));
  for (const namespace of namespaces) await api.create({ kind: 'Deployment', namespace }, workload);

  let onPost: (chat: string, data: string) => void = () => undefined;
  let handlers: Handlers | undefined;
  const postedMs = new Map<string, number>();
  const channel: Channel = {
    name: 'telegram',
    async post({ chat }, { cards }) {
      const button = cards[0]?.buttons.flat().find(({ label }) => label === "I'm on it");
      onPost(chat, button?.data ?? '');
      postedMs.set(chat, performance.now());
      return chat;
    },
    edit: async () => undefined,
    async run(given) {
      handlers = given;
      await new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }));
    },
    health: () => ({ ok: true, detail: '' }),
  };
  const watched: Api = {
    ...api,
    async patch(ref, type, body, options) {
      const answer = await api.patch(ref, type, body, options);
      const message = (body as { status?: { message?: string } }).status?.message;
      const since = message === undefined ? undefined : postedMs.get(message);
      if (ref.kind === 'Notice' && since !== undefined) found.window.push(performance.now() - since);
      if (ref.kind === 'Notice' && message !== undefined) postedMs.delete(message);
      return answer as never;
    },
  };
  ended.push(
    runTapfix({
      role: 'watcher',
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
  for (const [n, namespace] of namespaces.entries()) {
    const [pod] = await api.list<KubeObject>('Pod', namespace);
    const told = new Promise<string>((resolve) => (onPost = (_chat, data) => resolve(data)));
    const brokenMs = performance.now();
    await api.patch({ kind: 'Pod', namespace, name: pod!.metadata.name, subresource: 'status' }, 'merge', { status: crashing }); // prettier-ignore
    const data = await Promise.race([told, sleep(20_000).then(() => undefined)]);
    if (data === undefined) throw new Error(`nothing was said about ${namespace}`);
    found.toChat.push(performance.now() - brokenMs);
    await sleep(30);
    const chat = String(-100 - n);
    const pressedMs = performance.now();
    const { alert, say } = await handlers!.onPress({ channel: 'telegram', by: 'telegram:1', name: 'ada', place: { chat }, message: chat, data }); // prettier-ignore
    if (alert) throw new Error(say);
    found.toAnswer.push(performance.now() - pressedMs);
  }
  stop.abort();
  await Promise.race([Promise.all(ended), sleep(3_000)]);
  return found;
}

const at = (values: readonly number[], share: number): string => {
  const sorted = values.toSorted((a, b) => a - b);
  return `${(sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN).toFixed(1)} ms`;
};

/** What is printed: p50, p99. */
export async function tellingInWords(samples: number): Promise<[string, string, string][]> {
  const { toChat, toAnswer, window } = await measureTelling(samples);
  return [
    ['fault to chat call, beyond patience and window, p50', at(toChat, 0.5), `p99 ${at(toChat, 0.99)}, 50 ms wanted`],
    ['press to its answer, recorded, p50', at(toAnswer, 0.5), `p99 ${at(toAnswer, 0.99)}`],
    ["vendor's answer to our note of it, p50", at(window, 0.5), `p99 ${at(window, 0.99)}: a kill in it repeats`],
  ];
}
