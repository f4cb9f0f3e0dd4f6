import { actions } from '../../src/actions/table.ts';
import { runTapfix } from '../../src/app/app.ts';
import type { Channel, ChannelName } from '../../src/channels/channel.ts';
import type { Config } from '../../src/config/schema.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import type { Notice } from '../../src/kube/notice.ts';
import { isCleared, type Remediation } from '../../src/kube/remediation.ts';
import { resources } from '../../src/kube/resources.ts';
import { customResourceDefinitions } from '../../src/manifests/crd.ts';
import { nameOfNotice } from '../../src/notices/outbox/notice-body.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { createReadiness } from '../../src/ops/readiness.ts';
import { localApi } from '../../src/sim/api/local-api.ts';
import { parseBehaviour, usualTiming } from '../../src/sim/kubelet/behaviour.ts';
import { createSim } from '../../src/sim/sim.ts';
import { randomOf } from '../long/random.ts';
import { createPhone } from '../scenario/life/phone.ts';
import { configWith } from '../scenario/life/world.ts';
import { fakeClock } from '../support/fake-clock.ts';
import type { Books, Execution, Post } from './books.ts';
import { bookkeeping } from './executions.ts';
import { type Blow, drawPlan, type Plan, type Role, type Trouble, virtualPace } from './plan.ts';
import { createGate, gatedChannel, gatedClock, gatedServer, type Gate } from './replica.ts';
import { breakIt, deployAll, healIt, install, isWell, keyOf } from './scene.ts';
import { createWeather } from './weather.ts';

export interface Outcome {
  plan: Plan;
  books: Books;
  /** What went wrong, by kind, and how often. */
  faults: Map<string, number>;
  kills: number;
  /** Messages that came again, because nobody had heard that they had been posted. */
  repeated: number;
  /** How long it took, once everything was healthy, until every incident was cleared. */
  clearedAfterMs: number;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const definitions = customResourceDefinitions(actions);
const configOf = ({ troubles }: Plan): Config =>
  configWith({
    namespaces: { include: [...new Set(troubles.map(({ namespace }) => namespace))] },
    notices: { reminder: '0s', coalesce: '1s', maxPerMinute: 20 },
    recovery: { stableFor: '10s', timeout: '3m' },
    classes: {
      CrashLoop: { for: '5s' },
      OOMKilled: { for: '5s' },
      ImagePull: { for: '15s' },
      ConfigMissing: { for: '15s' },
    },
  });
/** One for all runs: prom-client observes the process for each, and never stops. */
const metrics = createMetrics();
/** Fewer heartbeats of the node: nothing here depends on them. */
const timing = { ...usualTiming, heartbeatMs: 120_000, resyncMs: 30_000, backoffMs: 15_000 };
const stepMs = 500;

/** One process of one role: its life can be ended at any moment, and another one begun. */
interface Replica {
  role: Role;
  n: number;
  lives: number;
  running?: { gate: Gate; stop: AbortController; ended: Promise<boolean>; asleep(): number; name: string } | undefined;
}

/** One seeded run: the same seed, the same run. */
export async function virtualRun(
  seed: number,
  { replicas = 1, plan: given }: { replicas?: number; plan?: Plan } = {},
): Promise<Outcome> {
  const random = randomOf(seed);
  const plan = given ?? drawPlan(seed, random, { replicas });
  const config = configOf(plan);
  const clock = fakeClock();
  const startMs = clock.now();
  const sim = createSim({
    clock,
    log: silent,
    nodes: 1,
    timing,
    definitions,
    random: randomOf(seed ^ 0xc1).next,
    behaviours: (_pod, { image = '' }) => {
      const [, word] = /:[^-]*-(.+)$/.exec(image) ?? [];
      return word ? parseBehaviour(word) : undefined;
    },
  });
  const end = new AbortController();
  const simEnded = sim.start(end.signal);
  const { api } = sim;
  const phone = createPhone();
  const posts: Post[] = [];
  const executions: Execution[] = [];
  const wrong: string[] = [];
  const weather = createWeather({ clock, random: randomOf(seed ^ 0xfa), spells: plan.spells, startMs });
  let kills = 0;

  const audited = bookkeeping(sim.server, executions);

  /** What is stored, uncopied: asking for it as a client costs more than anything else here. */
  const stored = <T extends KubeObject>(kind: 'Remediation' | 'Notice' | 'RoleBinding'): T[] => {
    const { store, rowOf } = sim.server.inside;
    return store.all(rowOf(kind, resources[kind].group)!) as unknown as T[];
  };
  const isRecorded = (name: string): boolean =>
    stored<Notice>('Notice').some(({ metadata, status }) => metadata.name === name && status?.message);

  /** Keeps the book of what the vendor took. */
  function booked(channel: Channel, by: string): Channel {
    return {
      ...channel,
      async post(place, message, replyTo) {
        const {
          members: [first],
          form,
          ...address
        } = place as Notice['spec'];
        const name = first ? nameOfNotice(address, form, first.uid) : `${form} ${posts.length + 1}`;
        const known = isRecorded(name);
        const id = await channel.post(place, message, replyTo);
        posts.push({ notice: name, form, by, known, unheard: false });
        return id;
      },
    };
  }

  function start(replica: Replica): void {
    const gate = createGate();
    const stop = new AbortController();
    const name = `${replica.role} ${replica.n}.${++replica.lives}`;
    const own = gatedClock(clock, gate);
    const channels = new Map<ChannelName, Channel>();
    if (replica.role === 'watcher') {
      const onLost = (): void => void (posts.at(-1)!.unheard = true);
      const vendor = weather.channel(booked(phone.connect(stop.signal), name), onLost);
      channels.set('telegram', gatedChannel(vendor, gate));
    }
    const ended = runTapfix({
      role: replica.role,
      api: localApi(gatedServer(weather.server(audited, replica.role), gate)),
      clock: own,
      log: silent,
      current: () => config,
      ownNamespace: 'tapfix',
      identity: `system:serviceaccount:tapfix:tapfix-${replica.role}`,
      timeZone: 'UTC',
      metrics,
      readiness: createReadiness(),
      channels,
      signal: stop.signal,
    });
    replica.running = { gate, stop, ended, asleep: own.asleep, name };
  }

  /** What it posted and could not record may come again. */
  function countDeath(name: string): void {
    kills += 1;
    for (const post of posts) if (post.by === name && !isRecorded(post.notice)) post.unheard = true;
  }

  /** As kill -9. */
  function bury(replica: Replica): void {
    const { gate, stop, name } = replica.running!;
    replica.running = undefined;
    gate.die();
    stop.abort();
    countDeath(name);
  }

  /** As SIGTERM: it ends what is under way, and leaves no sleeper. */
  async function stopGently(replica: Replica, wait: (ms: number) => Promise<void>): Promise<void> {
    const { gate, stop, ended, asleep, name } = replica.running!;
    replica.running = undefined;
    const end: { inTime?: boolean } = {};
    void ended.then((inTime) => (end.inTime = inTime));
    stop.abort();
    for (let n = 0; n < 20 && end.inTime === undefined; n++) await wait(stepMs);
    if (gate.isDead()) return countDeath(name); // a kill came first
    if (end.inTime === undefined) wrong.push(`${name} did not stop`);
    else if (clock.now() - startMs > virtualPace.calmMs + noAnswersLeftMs && (!end.inTime || asleep() > 0))
      wrong.push(`${name} left ${asleep()} sleepers when it stopped${end.inTime ? '' : ' (not in time)'}`);
  }

  async function strike(replica: Replica, blow: Blow): Promise<void> {
    if (!replica.running) return;
    const { gate } = replica.running;
    if (blow.what === 'pause') {
      gate.pause();
      await clock.sleep(blow.forMs);
      return gate.resume();
    }
    if (blow.what === 'stop') await stopGently(replica, clock.sleep);
    else {
      const died = Promise.withResolvers<void>();
      gate.dieAt(blow.moment, blow.n, died.resolve);
      await Promise.race([died.promise, clock.sleep(30_000)]);
      if (replica.running?.gate !== gate) return;
      bury(replica);
    }
    await clock.sleep(blow.forMs);
    if (!replica.running) start(replica);
  }

  const all: Replica[] = (['watcher', 'controller'] as const).flatMap((role) =>
    Array.from({ length: replicas }, (_, n) => ({ role, n, lives: 0 })),
  );
  const fixes = (): Remediation[] => stored('Remediation');
  const later = (atMs: number, work: () => Promise<void>): void =>
    void clock.sleep(startMs + atMs - clock.now()).then(work);
  async function until(isTrue: () => boolean | Promise<boolean>, mostMs: number): Promise<boolean> {
    const lastMs = clock.now() + mostMs;
    while (!(await isTrue())) {
      if (clock.now() >= lastMs) return false;
      await clock.advance(5_000);
    }
    return true;
  }

  /** Cards of recorded messages that do not say that it is over. */
  const red = (): string[] => {
    const recorded = new Set(
      stored<Notice>('Notice').flatMap(({ spec, status }) => (spec.members.length > 0 ? [status?.message] : [])),
    );
    return phone.messages
      .filter(({ id }) => recorded.has(id))
      .flatMap(({ message }) => message.cards.filter(({ dot }) => dot !== 'green' && dot !== 'grey'))
      .map(({ headline }) => headline);
  };

  const setUp = install(api, config.namespaces.include).then(() => deployAll(api, plan.troubles));
  await clock.advance(10);
  await setUp;
  for (const replica of all) start(replica);
  for (const trouble of plan.troubles) later(trouble.atMs, () => breakIt(api, trouble));
  for (const blow of plan.blows)
    later(blow.atMs, () =>
      strike(
        all.find(({ role, n }) => role === blow.role && n === blow.replica)!,
        blow,
      ),
    );
  const people = plan.troubles
    .filter(({ decision }) => decision !== 'nobody')
    .map((trouble) => ({ trouble, sinceMs: undefined as number | undefined }));

  /** People press what they see, again and again until it is decided. */
  async function decide(): Promise<void> {
    for (const one of people) {
      const { trouble } = one;
      const label = trouble.decision === 'approve' ? /^(Approve|Yes)/ : /^Reject/;
      const thumbs = phone.thumbs(label, new RegExp(`\\b${trouble.name}\\b`));
      if (thumbs.length === 0) continue;
      one.sinceMs ??= clock.now();
      if (clock.now() - one.sinceMs >= trouble.decidedAfterMs)
        void random
          .pick(thumbs)()
          .catch(() => undefined);
    }
  }
  for (let atMs = 0; atMs < virtualPace.calmMs + 20_000; atMs += 5_000) {
    await clock.advance(5_000);
    await decide();
  }
  const isKnown = async (): Promise<boolean> => {
    await decide();
    const notices = stored<Notice>('Notice');
    const records = fixes();
    return plan.troubles.every((trouble) => {
      const uids = records
        .filter(({ spec }) => spec.incident.key === keyOf(trouble))
        .map(({ metadata }) => metadata.uid);
      return notices.some(({ spec, status }) => status?.message && spec.members.some(({ uid }) => uids.includes(uid)));
    });
  };
  await until(isKnown, 300_000);
  for (let n = 0; n < 6; n++) {
    await decide();
    await clock.advance(5_000);
  }
  people.length = 0;
  const sick: Trouble[] = [];
  for (const trouble of plan.troubles) if (!(await isWell(api, trouble))) sick.push(trouble);
  for (const trouble of sick) await healIt(api, trouble);
  const healedMs = clock.now();
  await until(() => fixes().every(isCleared), 900_000);
  const clearedAfterMs = clock.now() - healedMs;
  if (!(await until(() => red().length === 0, 120_000)))
    wrong.push(...red().map((line) => `over, and still shown as "${line}"`));
  await clock.advance(65_000); // a sweep
  const notices = stored<Notice>('Notice');
  const bindings = stored('RoleBinding').map(({ metadata }) => metadata.name);
  const records = fixes();
  for (const replica of all) if (replica.running) await stopGently(replica, clock.advance);
  end.abort();
  await clock.advance(1_000);
  await simEnded;
  const incidents = plan.troubles.map((trouble) => ({ key: keyOf(trouble), decision: trouble.decision }));
  return {
    plan,
    books: { incidents, fixes: records, notices, posts, executions, bindings, wrong },
    faults: weather.counts,
    kills,
    clearedAfterMs,
    repeated: posts.length - new Set(posts.map(({ notice }) => notice)).size,
  };
}

/** A request that got no answer ends this long after the last fault. */
const noAnswersLeftMs = 60_000;
