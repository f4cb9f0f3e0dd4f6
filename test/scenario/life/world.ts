import type { TestContext } from 'node:test';
import { actions } from '../../../src/actions/table.ts';
import { type ConfigReload, type RoleName, runTapfix } from '../../../src/app/app.ts';
import type { Channel, ChannelName } from '../../../src/channels/channel.ts';
import { parseConfig } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/schema.ts';
import { type Api, type KubeObject, Unreachable } from '../../../src/kube/api.ts';
import { createElection, type Election } from '../../../src/kube/lease.ts';
import { createOutage } from '../../../src/kube/outage.ts';
import { type Phase, phaseOf, type Remediation } from '../../../src/kube/remediation.ts';
import { iso, untilAborted } from '../../../src/lib/clock.ts';
import { customResourceDefinitions } from '../../../src/manifests/crd.ts';
import { leases, memoryConfigMaps } from '../../../src/manifests/workloads.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { everyChat } from '../../../src/notices/plan/route.ts';
import { createReadiness, type Readiness } from '../../../src/ops/readiness.ts';
import type { ApiServer } from '../../../src/sim/api/api-server.ts';
import { localApi } from '../../../src/sim/api/local-api.ts';
import { parseBehaviour } from '../../../src/sim/kubelet/behaviour.ts';
import type { SimOptions } from '../../../src/sim/sim.ts';
import { createFullSim } from '../../sim/full-sim.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { greetIn } from '../../support/greeted.ts';
import { ada, chatId, createPhone } from './phone.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** tapfix asks again as it does over HTTP. */
const patience = { retry: true, timeoutMs: 15_000 };

export function configWith(over: object): Config {
  const whole = {
    cluster: 'sim',
    namespaces: { include: ['shop'] },
    approval: { approvers: [{ name: 'Ada', telegram: ada }] },
    channels: { telegram: { chat: chatId } },
    notices: { reminder: '0s' }, // those who wait for one say so
    ...over,
  };
  const parsed = parseConfig(JSON.stringify(whole), 'test');
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.config;
}

export interface WorldOptions extends Partial<Pick<SimOptions, 'behaviours' | 'nodes'>> {
  config?: object;
  /** Answers in place of the server: a request that is refused before it is looked at. */
  isBusy?: () => boolean;
  random?: () => number;
  /** tapfix has never been here: it introduces itself. */
  isNew?: boolean;
  /** Hears the log of tapfix, but for what is debugging. */
  onLog?: (line: string) => void;
  /** The channel of webhooks, which no phone shows. */
  webhook?: Channel;
}

/** "shop/app:2-crash" crashes. Not by annotation: an undo leaves annotations that only the newer version has. */
const byTag: SimOptions['behaviours'] = (_pod, { image = '' }) => {
  const [, word] = /:[^-]*-(.+)$/.exec(image) ?? [];
  return word ? parseBehaviour(word) : undefined;
};

interface Running {
  /** From now on nothing that it does arrives. */
  die(): void;
  /** Aborted, it is asked to stop. */
  stop: AbortController;
  readiness: Readiness;
}

/** A simulated cluster, the whole of tapfix and a phone, in virtual time: half an hour takes a second. */
export async function aWorld(t: TestContext, options: WorldOptions = {}) {
  const {
    config = {},
    nodes = 2,
    behaviours = byTag,
    isBusy,
    random = Math.random,
    isNew = false,
    onLog,
    webhook,
  } = options;
  const said = (_fields: object, message: string): void => onLog?.(message);
  const log = { debug() {}, info: said, warn: said, error: said };
  const clock = fakeClock();
  const sim = createFullSim({
    clock,
    log: silent,
    nodes,
    definitions: customResourceDefinitions(actions),
    behaviours,
  });
  const end = new AbortController();
  t.after(() => end.abort());
  void sim.start(end.signal);
  const { api } = sim;
  const phone = createPhone();
  const slack = createPhone();
  let inForce = configWith(config);
  let listeners: ((reload: ConfigReload) => void)[] = [];
  let refusal: { at: string; problem: string } | undefined;
  let isAway = false;
  let forbidden: RegExp | undefined;
  let requests = 0;
  const pings: number[] = [];
  let contact = new AbortController(); // ends when the server goes away
  let misses: (line: { type?: string; object?: KubeObject }) => boolean = () => false;
  let connect: (config: Config) => Map<ChannelName, Channel> = () => new Map();
  let running: Running | undefined;

  for (const name of ['shop', 'tapfix']) await api.create({ kind: 'Namespace' }, named('v1', 'Namespace', name));
  await api.create({ kind: 'ServiceAccount', namespace: 'tapfix' }, named('v1', 'ServiceAccount', 'tapfix-writer'));
  const install = { namespace: 'tapfix', image: '', actions };
  for (const manifest of [...memoryConfigMaps(install), ...leases(install)])
    await api.create({ kind: manifest.kind as 'ConfigMap' | 'Lease', namespace: 'tapfix' }, manifest);
  if (!isNew) await greetIn(api, 'tapfix', [...everyChat(inForce), ...laterChats]);

  /** As tapfix reaches it: while it is away nobody answers, and open watches break. */
  const reachable: Pick<ApiServer, 'handle'> = {
    async handle(request) {
      requests += 1;
      if (isAway) throw new Unreachable('connect ECONNREFUSED');
      if (isBusy?.()) return tooManyRequests;
      if (forbidden?.test(request.path))
        return { status: 403, body: { kind: 'Status', code: 403, reason: 'Forbidden', message: 'forbidden' } };
      const answer = await sim.server.handle(request);
      return answer.lines
        ? { ...answer, lines: breakable(answer.lines, contact.signal, (line) => misses(line)) }
        : answer;
    },
  };

  /** A process of tapfix. `kill`, or `diesIn` once that phase is written, ends it as a machine dies: nothing it does afterwards arrives. */
  function start({ diesIn, replica }: { diesIn?: Phase; replica?: string } = {}): Running {
    const outage = createOutage({ clock, log });
    const client = localApi(reachable, { patience: { ...patience, clock, random, outage } });
    const { api: own, die } = mortal(client, diesIn);
    const stop = new AbortController();
    end.signal.addEventListener('abort', () => stop.abort());
    const readiness = createReadiness();
    const mine = { die, stop, readiness };
    running = mine;
    const phones = { telegram: phone.connect(stop.signal), slack: slack.connect(stop.signal, 'slack') };
    connect = ({ channels: named }) => {
      const wanted = (['telegram', 'slack'] as const).filter((name) => named[name]);
      return new Map<ChannelName, Channel>([
        ...wanted.map((name) => [name, phones[name]] as const),
        ...(webhook ? [['webhook', webhook] as const] : []),
      ]);
    };
    listeners = [];
    void runTapfix({
      role: 'all',
      api: own,
      clock,
      log,
      current: () => inForce,
      ownNamespace: 'tapfix',
      identity: 'system:serviceaccount:tapfix:tapfix-watcher',
      timeZone: 'UTC',
      metrics: createMetrics(),
      readiness,
      channels: connect(inForce),
      ...(replica !== undefined && { elections: electionsOf(own, replica) }),
      reloads: { subscribe: (listener) => void listeners.push(listener), refusal: () => refusal },
      ping: async () => void pings.push(clock.now()),
      signal: stop.signal,
    });
    return mine;
  }

  function electionsOf(own: Api, identity: string): Record<RoleName, Election> {
    const election = (name: string): Election =>
      createElection({
        api: own,
        clock,
        steadyMs: clock.now,
        log: silent,
        namespace: 'tapfix',
        name,
        identity,
        timing: inForce.leaderElection,
      });
    return { watcher: election('tapfix-watcher'), controller: election('tapfix-controller') };
  }

  /** The configuration is another one from now on. */
  function configure(over: object): void {
    const before = inForce;
    inForce = configWith(over);
    for (const listener of listeners) listener({ before, now: inForce, channels: connect(inForce) });
  }

  function kill(): void {
    running?.die();
    running?.stop.abort();
    running = undefined;
  }

  /** As the kubelet ends it: it has the time to write down what it has to. */
  async function stop(): Promise<void> {
    running?.stop.abort();
    running = undefined;
    await clock.advance(5_000);
  }

  const fixes = (namespace = 'shop'): Promise<Remediation[]> => api.list<Remediation>('Remediation', namespace);

  /** Time passes until it is true; throws when it has not become so in time. */
  async function until(what: string, isTrue: () => Promise<boolean> | boolean, mostMs = 120_000): Promise<void> {
    const endMs = clock.now() + mostMs;
    while (!(await isTrue())) {
      if (clock.now() >= endMs) throw new Error(`no ${what} after ${mostMs / 1000} s; on the phone:\n${phone.text()}`);
      await clock.advance(500);
    }
  }

  return {
    clock,
    sim,
    api,
    phone,
    /** The same for Slack, where that is configured. */
    slack,
    start,
    kill,
    stop,
    configure,
    /** The configuration in the file is not used, as long as this is so. */
    refuse: (problem: string | undefined) =>
      void (refusal = problem === undefined ? undefined : { at: iso(clock.now()), problem }),
    fixes,
    until,
    /** How many requests tapfix has made. */
    requests: () => requests,
    advance: (ms: number) => clock.advance(ms),
    /** When the heartbeat was heard. */
    pings,
    /** tapfix may no longer ask for such paths; watches that are open stay so until they end. */
    forbid: (paths: RegExp | undefined) => void (forbidden = paths),
    outage(away: boolean): void {
      isAway = away;
      if (away) contact.abort(new Unreachable('read ECONNRESET'));
      else contact = new AbortController();
    },
    /** From now on no watch of tapfix tells it such a thing. */
    miss: (what: typeof misses) => void (misses = what),
    apply: (kind: Parameters<Api['create']>[0]['kind'], body: object): Promise<KubeObject> =>
      api.create({ kind, namespace: 'shop' }, body),
    async phase(wanted: Phase, mostMs?: number): Promise<Remediation> {
      let found: Remediation | undefined;
      const isThere = async (): Promise<boolean> => {
        found = (await fixes()).find((fix) => phaseOf(fix) === wanted);
        return found !== undefined;
      };
      await until(`Remediation that is ${wanted}`, isThere, mostMs);
      return found!;
    },
    /** Rights that were minted and are still there. */
    bindings: async (): Promise<string[]> =>
      (await api.list<KubeObject>('RoleBinding', 'shop')).map(({ metadata }) => metadata.name),
  };
}
export type World = Awaited<ReturnType<typeof aWorld>>;

const tooManyRequests = {
  status: 429,
  body: {
    kind: 'Status',
    code: 429,
    reason: 'TooManyRequests',
    message: 'too many requests, please try again later',
    details: { retryAfterSeconds: 1 },
  },
};

/** Chats that configurations of the tests name later. */
const laterChats = [
  { channel: 'telegram', chat: '-1007' },
  { channel: 'telegram', chat: '-2002' },
  { channel: 'slack', chat: 'C0123456789' },
] as const;

const named = (apiVersion: string, kind: string, name: string): object => ({ apiVersion, kind, metadata: { name } });

async function* breakable(
  lines: AsyncIterable<object>,
  contact: AbortSignal,
  isMissed: (line: object) => boolean,
): AsyncGenerator<object> {
  const iterator = lines[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await untilAborted(iterator.next(), contact);
    if (done) return;
    if (!isMissed(value)) yield value;
  }
}

/** An Api whose process can die: from then on no call of it arrives, and no answer comes. */
function mortal(api: Api, lastPhase: Phase | undefined): { api: Api; die(): void } {
  let dead = false;
  const isLast = (body: object): boolean =>
    lastPhase !== undefined && (body as { status?: { phase?: Phase } }).status?.phase === lastPhase;
  const never = new Promise<never>(() => undefined);
  const alive = <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    (async (...args: A) => {
      if (dead) return never;
      const answer = await call(...args);
      return dead ? never : answer;
    }) as (...args: A) => Promise<R>;
  const wrap = (inner: Api): Api => ({
    get: alive(inner.get) as Api['get'],
    list: alive(inner.list) as Api['list'],
    podLog: alive(inner.podLog),
    page: alive(inner.page) as Api['page'],
    create: alive(inner.create) as Api['create'],
    createSub: alive(inner.createSub) as Api['createSub'],
    patch: alive(async (ref, type, body, options) => {
      const answer = await inner.patch(ref, type, body, options);
      if (isLast(body)) dead = true;
      return answer;
    }) as Api['patch'],
    delete: alive(inner.delete),
    async *watch(...args) {
      for await (const line of inner.watch(...args)) {
        if (dead) return;
        yield line;
      }
    },
    withToken: (token) => wrap(inner.withToken(token)),
    guardedBy: (check) => wrap(inner.guardedBy(check)),
  });
  return { api: wrap(api), die: () => void (dead = true) };
}
