import { actions } from '../../src/actions/table.ts';
import type { Channel } from '../../src/channels/channel.ts';
import type { Config } from '../../src/config/schema.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import type { Notice } from '../../src/kube/notice.ts';
import { isCleared, type Remediation } from '../../src/kube/remediation.ts';
import { resources } from '../../src/kube/resources.ts';
import { customResourceDefinitions } from '../../src/manifests/crd.ts';
import { nameOfNotice } from '../../src/notices/outbox/notice-body.ts';
import { parseBehaviour, usualTiming } from '../../src/sim/kubelet/behaviour.ts';
import { createSim } from '../../src/sim/sim.ts';
import { randomOf } from '../long/random.ts';
import { createPhone } from '../scenario/life/phone.ts';
import { configWith } from '../scenario/life/world.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { aboutIncidents, type Execution, type Post } from './books.ts';
import { bookkeeping } from './executions.ts';
import { type Blow, drawPlan, type Part, type Plan, type Role, type Trouble, virtualPace } from './plan.ts';
import { gatedChannel, type Gate } from './replica.ts';
import type { Outcome } from './report.ts';
import { breakIt, deployAll, healIt, install, isWell, keyOf } from './scene.ts';
import { type ProcessSelf, startProcess, type VirtualProcess } from './virtual-process.ts';
import { createWeather } from './weather.ts';

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
/** Fewer heartbeats of the node: nothing here depends on them. */
const timing = { ...usualTiming, heartbeatMs: 120_000, resyncMs: 30_000, backoffMs: 15_000 };
const stepMs = 500;

/** One of the processes of a role: its life can be ended at any moment, and another one begun. */
interface Replica {
  part: Part;
  n: number;
  lives: number;
  running?: VirtualProcess | undefined;
}

/** A message that left a process. */
interface Sent extends Post {
  process: ProcessSelf;
  /** In which of its terms. */
  term: number;
  atMs: number;
  /** The vendor has it. */
  isTaken: boolean;
  /** When its sender heard that. */
  heardMs?: number;
}

interface Lease extends KubeObject {
  spec?: { holderIdentity?: string; leaseTransitions?: number };
}

/** One seeded run: the same seed, the same run. */
export async function virtualRun(seed: number, { plan: given }: { plan?: Plan } = {}): Promise<Outcome> {
  const random = randomOf(seed);
  const plan = given ?? drawPlan(seed, random);
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
  const sent: Sent[] = [];
  const stale = new Set<string>();
  const executions: Execution[] = [];
  const wrong: string[] = [];
  const weather = createWeather({ clock, random: randomOf(seed ^ 0xfa), spells: plan.spells, startMs });
  let kills = 0;
  let pauses = 0;

  const audited = bookkeeping(sim.server, executions);

  /** What is stored, uncopied: asking for it as a client costs more than anything else here. */
  const stored = <T extends KubeObject>(kind: 'Remediation' | 'Notice' | 'RoleBinding' | 'Lease'): T[] => {
    const { store, rowOf } = sim.server.inside;
    return store.all(rowOf(kind, resources[kind].group)!) as unknown as T[];
  };
  const isRecorded = (name: string): boolean =>
    stored<Notice>('Notice').some(({ metadata, status }) => metadata.name === name && status?.message);

  const leaderOf = (role: Role): string | undefined =>
    stored<Lease>('Lease').find(({ metadata }) => metadata.name === `tapfix-${role}`)?.spec?.holderIdentity;

  /** Whoever posted it could not record it: it was killed, paused, did not lead any more, or the server refused it. */
  function isExcused({ process, term, atMs, heardMs = Infinity }: Sent): boolean {
    const { gate, stop, part, terms, isLeading } = process;
    if (gate.isDead() || gate.isPaused() || terms() !== term) return true;
    return stop.signal.aborted ? weather.lastMs(part) >= atMs || heardMs - atMs > 1_000 : !isLeading('watcher');
  }

  function noteSent(place: Notice['spec'], process: ProcessSelf): Sent {
    const {
      members: [first],
      form,
      ...address
    } = place;
    const notice = first ? nameOfNotice(address, form, first.uid) : `${form} ${sent.length + 1}`;
    for (const before of sent) if (before.notice === notice && isExcused(before)) before.unheard = true;
    const one: Sent = {
      notice,
      form,
      by: process.name,
      known: isRecorded(notice),
      unheard: false,
      process,
      term: process.terms(),
      atMs: clock.now(),
      isTaken: false,
    };
    sent.push(one);
    return one;
  }

  /** Keeps the book of what the vendor took. A message is on its way once its check has passed; it may arrive later. */
  function connect(process: ProcessSelf): Channel {
    const vendor = phone.connect(process.stop.signal);
    /** An edit whose check had passed may arrive after those of the next leader, which cannot know of it. */
    function noteEdit(id: string, checkedMs: number): void {
      if (clock.now() - checkedMs > stepMs && plan.replicas > 1 && leaderOf('watcher') !== process.name) stale.add(id);
    }
    const way = ({ one, checkedMs = 0 }: { one?: Sent; checkedMs?: number } = {}): Channel =>
      gatedChannel(
        {
          ...vendor,
          post: (...args) =>
            weather.vendorCall(
              async () => {
                const id = await vendor.post(...args);
                one!.isTaken = true;
                return id;
              },
              () => void (one!.unheard = true),
            ),
          edit: (...args) =>
            weather.vendorCall(
              async () => {
                await vendor.edit(...args);
                noteEdit(args[1], checkedMs);
              },
              () => undefined,
            ),
        },
        process.gate,
      );
    return {
      ...way(),
      edit: (...args) => way({ checkedMs: clock.now() }).edit(...args),
      async post(place, ...rest) {
        const one = noteSent(place as Notice['spec'], process);
        const id = await way({ one }).post(place, ...rest);
        one.heardMs = clock.now();
        return id;
      },
    };
  }

  function start(replica: Replica): void {
    const { part } = replica;
    replica.running = startProcess({
      name: `${part} ${replica.n}.${++replica.lives}`,
      part,
      isElected: plan.replicas > 1,
      server: audited,
      weather,
      clock,
      random: Math.random,
      config,
      connect: part === 'controller' ? undefined : connect,
    });
  }

  /** As kill -9. */
  function bury(replica: Replica): void {
    const { gate, stop } = replica.running!;
    replica.running = undefined;
    gate.die();
    stop.abort();
    kills += 1;
  }

  /** As SIGTERM: it ends what is under way, and leaves no sleeper. */
  async function stopGently(replica: Replica, wait: (ms: number) => Promise<void>): Promise<void> {
    const { gate, stop, ended, asleep, name } = replica.running!;
    replica.running = undefined;
    while (gate.isPaused()) await wait(stepMs);
    const end: { inTime?: boolean } = {};
    void ended.then((inTime) => (end.inTime = inTime));
    stop.abort();
    for (let n = 0; n < 20 && end.inTime === undefined; n += gate.isPaused() ? 0 : 1) await wait(stepMs);
    if (gate.isDead()) return void (kills += 1); // a kill came first
    if (end.inTime === undefined) wrong.push(`${name} did not stop`);
    else if (clock.now() - startMs > virtualPace.calmMs + noAnswersLeftMs && (!end.inTime || asleep() > 0))
      wrong.push(`${name} left ${asleep()} sleepers when it stopped${end.inTime ? '' : ' (not in time)'}`);
  }

  /** Until the moment at which a blow strikes has come, or a while has passed. */
  async function atMoment(gate: Gate, { moment, n }: Blow, mostMs: number, hit: () => void): Promise<void> {
    const struck = Promise.withResolvers<void>();
    let isOver = false;
    gate.strikeAt(moment, n, () => {
      if (isOver) return;
      hit();
      struck.resolve();
    });
    await Promise.race([struck.promise, clock.sleep(mostMs)]);
    isOver = true;
  }

  async function strike(replica: Replica, blow: Blow): Promise<void> {
    if (!replica.running) return;
    const { gate } = replica.running;
    if (blow.what === 'pause') {
      if (gate.isPaused()) return;
      await atMoment(gate, blow, 10_000, gate.pause);
      gate.pause();
      pauses += 1;
      await clock.sleep(blow.forMs);
      return gate.resume();
    }
    if (blow.what === 'stop') await stopGently(replica, clock.sleep);
    else {
      await atMoment(gate, blow, 30_000, gate.die);
      if (replica.running?.gate !== gate) return;
      bury(replica);
    }
    await clock.sleep(blow.forMs);
    if (!replica.running) start(replica);
  }

  const parts: readonly Part[] = plan.together ? ['all'] : ['watcher', 'controller'];
  const all: Replica[] = parts.flatMap((part) =>
    Array.from({ length: plan.replicas }, (_, n) => ({ part, n, lives: 0 })),
  );

  /** Who is struck, as the Lease says it then. */
  function struckBy({ role, whom }: Blow): Replica[] {
    const own = all.filter(({ part }) => part === 'all' || part === role);
    if (own.length === 1 || whom === 'both') return own;
    const leader = own.find(({ running }) => running?.name === leaderOf(role)) ?? own[0]!;
    return whom === 'leader' ? [leader] : own.filter((one) => one !== leader);
  }

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

  /** Cards of recorded messages that do not say that it is over. A reminder tells what was so then, and stays. */
  const red = (): string[] => {
    const recorded = new Set(
      stored<Notice>('Notice').flatMap(({ spec, status }) =>
        aboutIncidents.includes(spec.form) ? [status?.message] : [],
      ),
    );
    return phone.messages
      .filter(({ id }) => recorded.has(id) && !stale.has(id))
      .flatMap(({ message }) => message.cards.filter(({ dot }) => dot !== 'green' && dot !== 'grey'))
      .map(({ headline }) => headline);
  };

  const setUp = install(api, config.namespaces.include).then(() => deployAll(api, plan.troubles));
  await clock.advance(10);
  await setUp;
  for (const replica of all) start(replica);
  for (const trouble of plan.troubles) later(trouble.atMs, () => breakIt(api, trouble));
  for (const blow of plan.blows)
    later(blow.atMs, async () => void (await Promise.all(struckBy(blow).map((replica) => strike(replica, blow)))));
  const people = plan.troubles
    .filter(({ decision }) => decision !== 'nobody')
    .map((trouble) => ({ trouble, sinceMs: undefined as number | undefined }));

  /** People press what they see, again and again until it is decided. */
  async function decide(): Promise<void> {
    for (const one of people) {
      const { trouble } = one;
      const label =
        trouble.decision === 'approve' ? /^(?:\d+ )?(?:Roll back|Delete|Restart|Scale|Use image|Yes)/ : /^Reject/;
      const thumbs = phone.thumbs(label, new RegExp(`\\b${trouble.name}\\b`));
      if (thumbs.length === 0) continue;
      one.sinceMs ??= clock.now();
      if (clock.now() - one.sinceMs >= trouble.decidedAfterMs)
        void random
          .pick(thumbs)()
          .catch(() => undefined);
    }
  }
  for (let atMs = 0; atMs < virtualPace.calmMs + 15_000; atMs += 5_000) {
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
  const isDecided = async (): Promise<boolean> => {
    await decide();
    const pending = fixes().filter(({ spec }) => spec.action && spec.approval.state === 'Pending');
    return !people.some(({ trouble }) => pending.some(({ spec }) => spec.incident.key === keyOf(trouble)));
  };
  await clock.advance(5_000);
  await until(isDecided, virtualPace.longestThoughtMs);
  people.length = 0;
  const sick: Trouble[] = [];
  for (const trouble of plan.troubles) if (!(await isWell(api, trouble))) sick.push(trouble);
  for (const trouble of sick) await healIt(api, trouble);
  await until(() => fixes().every(isCleared), 900_000);
  if (!(await until(() => red().length === 0, 120_000)))
    wrong.push(...red().map((line) => `over, and still shown as "${line}"`));
  // Rights that are left are swept within a minute. What comes late, and should not, comes in every fourth run.
  await until(() => stored('RoleBinding').length === 0, 65_000);
  await clock.advance(seed % 4 === 1 ? 65_000 : 10_000);
  const notices = stored<Notice>('Notice');
  const bindings = stored('RoleBinding').map(({ metadata }) => metadata.name);
  const records = fixes();
  for (const replica of all) if (replica.running) await stopGently(replica, clock.advance);
  end.abort();
  await clock.advance(1_000);
  await simEnded;
  const posts: Post[] = sent.filter(({ isTaken }) => isTaken);
  const incidents = plan.troubles.map((trouble) => ({ key: keyOf(trouble), decision: trouble.decision }));
  return {
    plan,
    books: { incidents, fixes: records, notices, posts, executions, bindings, wrong },
    faults: weather.counts,
    struck: {
      kills,
      pauses,
      terms: stored<Lease>('Lease').reduce((sum, { spec }) => sum + (spec?.leaseTransitions ?? 0), 0),
      repeated: posts.length - new Set(posts.map(({ notice }) => notice)).size,
    },
  };
}

/** A request that got no answer ends this long after the last fault. */
const noAnswersLeftMs = 60_000;
