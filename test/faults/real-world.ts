import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { actions } from '../../src/actions/table.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import type { Notice } from '../../src/kube/notice.ts';
import type { Remediation } from '../../src/kube/remediation.ts';
import { resources } from '../../src/kube/resources.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { shortUid } from '../../src/lib/hash.ts';
import { customResourceDefinitions } from '../../src/manifests/crd.ts';
import { listen } from '../../src/sim/api/http.ts';
import { parseBehaviour, usualTiming } from '../../src/sim/kubelet/behaviour.ts';
import { createSim } from '../../src/sim/sim.ts';
import { type FaultProxy, startFaultProxy } from '../cluster/fault-proxy.ts';
import { aSetup, startTapfix, type Tapfix } from '../scenario/support/tapfix.ts';
import { botToken, type SentMessage, startFakeTelegram } from '../support/fake-telegram.ts';
import type { Execution } from './books.ts';
import { bookkeeping } from './executions.ts';
import type { Role } from './plan.ts';
import { install } from './scene.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
export const ada = 123456789;
const chat = -100500;

/** A cluster in a hurry: what takes a real one minutes takes this one seconds. */
const timing = {
  ...usualTiming,
  startMs: 300,
  noticeMs: 200,
  resyncMs: 4_000,
  backoffMs: 2_000,
  longestBackoffMs: 8_000,
  heartbeatMs: 30_000,
};

/** As in the image. */
const imageFlags = [
  '--max-semi-space-size=1',
  '--optimize-for-size',
  '--memory-reducer-for-small-heaps',
  '--expose-gc',
];

/** One process of one role, and its own way to the API server. */
export interface RealReplica {
  readonly role: Role;
  readonly n: number;
  /** The holder of a Lease is named after it. */
  readonly id: string;
  readonly proxy: FaultProxy;
  /** How often it was killed. */
  kills: number;
  /** How often it was paused. */
  pauses: number;
  /** How often it began to lead, and lost its Lease. */
  terms(): number;
  losses(): number;
  running(): Tapfix | undefined;
  /** The last warnings and errors of all its lives. */
  complaints(): string[];
  start(): Promise<void>;
  kill(): Promise<void>;
  /** SIGTERM. Returns what was wrong with its end. */
  stop(): Promise<string[]>;
}

export interface RealWorldOptions {
  namespaces: readonly string[];
  replicas?: number;
  /** Over the usual configuration. */
  config?: object;
}

export type RealWorld = Awaited<ReturnType<typeof aRealWorld>>;

/** Real processes of tapfix; the cluster, the chat vendor and the network between them are in this process. */
export async function aRealWorld({ namespaces, replicas = 1, config = {} }: RealWorldOptions) {
  const cleanups: (() => unknown)[] = [];
  const context = { after: (work: () => unknown) => void cleanups.unshift(work) };
  const end = new AbortController();
  const sim = createSim({
    clock: systemClock,
    log: silent,
    nodes: 1,
    timing,
    definitions: customResourceDefinitions(actions),
    identity: { username: 'system:serviceaccount:tapfix:tapfix-watcher', groups: [] },
    behaviours: (_pod, { image = '' }) => {
      const [, word] = /:[^-]*-(.+)$/.exec(image) ?? [];
      return word ? parseBehaviour(word) : undefined;
    },
  });
  const ended = sim.start(end.signal);
  context.after(async () => {
    end.abort();
    await ended;
  });
  await install(sim.api, namespaces);
  const executions: Execution[] = [];
  let requests = 0;
  const booked = bookkeeping(sim.server, executions);
  const handle: typeof booked.handle = (request) => {
    requests += 1;
    return booked.handle(request);
  };
  const listening = await listen({ handle });
  context.after(() => listening.close());
  let onCall: (method: string) => void = () => undefined;
  const telegram = await startFakeTelegram({
    chats: [String(chat)],
    pollMs: 5_000,
    limits: { burstInChat: 1_000, messagesAMinute: 1_000, callsASecond: 1_000 },
    onCall: (method) => onCall(method),
  });
  context.after(() => telegram.close());

  async function aReplica(role: Role, n: number): Promise<RealReplica> {
    const proxy = await startFaultProxy({ upstream: listening.url });
    context.after(() => proxy.close());
    const setup = await aSetup(context as never, {
      server: proxy.url,
      anonymous: true,
      channels: { telegram: { chat, apiRoot: telegram.apiRoot } },
      config: {
        namespaces: { include: namespaces },
        approval: { approvers: [{ name: 'Ada', telegram: ada }] },
        notices: { coalesce: '0s', maxPerMinute: 20, reminder: '0s' },
        recovery: { stableFor: '2s', timeout: '20s' },
        classes: Object.fromEntries(
          ['CrashLoop', 'OOMKilled', 'ImagePull', 'ConfigMissing', 'QuotaExceeded'].map((name) => [
            name,
            { for: '1s' },
          ]),
        ),
        ...config,
      },
    });
    const id = `${role}-${n}`;
    const env = { ...setup.env, TELEGRAM_BOT_TOKEN: botToken, POD_NAME: id };
    let tapfix: Tapfix | undefined;
    const lives: Tapfix[] = [];
    const timesSaid = (msg: string): number => lives.reduce((sum, life) => sum + life.logged(msg).length, 0);
    const replica: RealReplica = {
      role,
      n,
      id,
      proxy,
      kills: 0,
      pauses: 0,
      terms: () => timesSaid('this replica leads'),
      losses: () => timesSaid('this replica no longer leads'),
      running: () => tapfix,
      complaints: () =>
        lives
          .flatMap((life) => life.stdout().split('\n'))
          .filter((line) => /^\{"level":"(warn|error)"|^(?!\{)./.test(line))
          .slice(-15)
          .map((line) => `${role} ${n}: ${line.slice(0, 400)}`),
      async start() {
        tapfix = startTapfix(context as never, [...setup.words, '--role', role], { env, node: imageFlags });
        lives.push(tapfix);
        await tapfix.says('operations server listens');
      },
      async kill() {
        const dying = tapfix;
        tapfix = undefined;
        if (!dying) return;
        replica.kills += 1;
        dying.kill('SIGKILL');
        await dying.ended();
      },
      async stop() {
        const dying = tapfix;
        tapfix = undefined;
        if (!dying) return [];
        dying.kill('SIGTERM');
        const { code, stderr } = await dying.ended();
        const wrong = code === 0 ? [] : [`${role} ${n} ended with ${code} after SIGTERM`];
        return stderr === '' ? wrong : [...wrong, `${role} ${n} wrote on stderr: ${stderr.slice(0, 300)}`];
      },
    };
    return replica;
  }

  const all: RealReplica[] = [];
  for (const role of ['watcher', 'controller'] as const)
    for (let n = 0; n < replicas; n++) all.push(await aReplica(role, n));

  const stored = <T extends KubeObject>(kind: 'Remediation' | 'Notice' | 'RoleBinding' | 'Lease'): T[] => {
    const { store, rowOf } = sim.server.inside;
    return store.all(rowOf(kind, resources[kind].group)!) as unknown as T[];
  };

  return {
    api: sim.api,
    telegram,
    /** Called with the method of each call of the vendor. */
    onCall: (listener: typeof onCall) => void (onCall = listener),
    replicas: all,
    executions,
    requests: (): number => requests,
    fixes: () => stored<Remediation>('Remediation'),
    notices: () => stored<Notice>('Notice'),
    bindings: () => stored('RoleBinding').map(({ metadata }) => metadata.name),
    /** The holder of the Lease. */
    leader: (role: Role): string | undefined =>
      stored<KubeObject & { spec?: { holderIdentity?: string } }>('Lease').find(
        ({ metadata }) => metadata.name === `tapfix-${role}`,
      )?.spec?.holderIdentity,
    /** The button with such a label that is about this Remediation, where it can be seen. */
    button(fix: Remediation, label: RegExp): { message: number; data: string } | undefined {
      const uid = shortUid(fix.metadata.uid);
      for (const { id, buttons } of telegram.messages().toReversed()) {
        const found = buttons.find(({ text, callback_data }) => label.test(text) && callback_data.includes(uid));
        if (found) return { message: id, data: found.callback_data };
      }
      return undefined;
    },
    async close(): Promise<void> {
      for (const work of cleanups) await work();
    },
  };
}

/** How many files and sockets a process has open. */
export const openFiles = async (pid: number): Promise<number> => (await readdir(`/proc/${pid}/fd`)).length;

export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Whether it became true in time. */
export async function comesTrue(isTrue: () => boolean | Promise<boolean>, mostMs: number): Promise<boolean> {
  const endMs = performance.now() + mostMs;
  while (!(await isTrue())) {
    if (performance.now() > endMs) return false;
    await sleep(200);
  }
  return true;
}

/** Messages that no Notice knows: they came again, because nobody had heard that they had been posted. */
export function orphans(messages: readonly SentMessage[], notices: readonly Notice[]): SentMessage[] {
  const known = new Set(notices.map(({ status }) => status?.message));
  return messages.filter(({ id }) => !known.has(String(id)));
}
