import { setTimeout as sleep } from 'node:timers/promises';
import { isCleared, type Remediation } from '../../src/kube/remediation.ts';
import { type Random, randomOf } from '../long/random.ts';
import type { Post } from './books.ts';
import { createRealWeather } from './real-weather.ts';
import {
  type Blow,
  chatFaults,
  drawPlan,
  type Plan,
  planLines,
  realPace,
  requestFaults,
  type Spell,
  watchFaults,
} from './plan.ts';
import {
  ada,
  aRealWorld,
  comesTrue,
  isAlive,
  openFiles,
  orphans,
  type RealReplica,
  type RealWorld,
} from './real-world.ts';
import { type Report, reportOf } from './report.ts';
import { breakIt, deployAll, healIt, isWell, keyOf } from './scene.ts';

/** So that a dozen runs have every kind of fault: two for each seed, in turn. */
const inTurn = [...requestFaults, ...watchFaults, ...chatFaults];
const certainOf = (seed: number): Spell['what'][] => [0, 1].map((n) => inTurn[(2 * (seed - 1) + n) % inTurn.length]!);

const certainBlows = ['kill', 'pause', 'stop', 'pause'] as const;

/** Two processes of each role, both elected, but for one run of six. */
const drawRealPlan = (seed: number, random: Random): Plan =>
  drawPlan(seed, random, {
    pace: realPace,
    replicas: seed % 6 === 0 ? 1 : 2,
    together: false,
    certain: certainOf(seed),
    certainBlow: certainBlows[seed % certainBlows.length],
  });

/** A watch that is half-open is given up after 90 s; what was posted then may wait for its turn. */
const patienceMs = 180_000;
/** Connections that were idle when the first count was made. */
const spareFiles = 12;

/** One seeded run with real processes. The same seed draws the same plan; the machine decides about the rest. */
export async function realRun(seed: number): Promise<Report> {
  const random = randomOf(seed ^ 0x4ea1);
  const plan = drawRealPlan(seed, random);
  const namespaces = [...new Set(plan.troubles.map(({ namespace }) => namespace))];
  const world = await aRealWorld({ namespaces, replicas: plan.replicas });
  try {
    return await play(plan, world, random);
  } catch (error) {
    const wrong = [(error as Error).stack ?? String(error)];
    return { form: 'real', seed, wrong, plan: planLines(plan), books: [], counts: {}, cpuMs: 0 };
  } finally {
    await world.close();
  }
}

async function play(plan: Plan, world: RealWorld, random: Random): Promise<Report> {
  const { api, telegram, replicas, fixes, notices, bindings, executions } = world;
  const faults = new Map<string, number>();
  const wrong: string[] = [];
  const over = new AbortController();
  const pids = new Set<number>();
  const filesAtFirst = new Map<number, number>();

  async function start(replica: RealReplica): Promise<void> {
    await replica.start();
    pids.add(replica.running()!.pid);
  }

  await deployAll(api, plan.troubles);
  await Promise.all(replicas.map(start));
  await Promise.all(
    replicas.map((replica) =>
      replica.running()!.until('readiness', async () => (await replica.running()!.readyz()).status === 200),
    ),
  );
  for (const replica of replicas) {
    const { pid } = replica.running()!;
    filesAtFirst.set(pid, await openFiles(pid));
  }
  const startMs = performance.now();
  const nowMs = (): number => performance.now() - startMs;
  const begin = createRealWeather({ world, random, nowMs, counts: faults });
  const at = async (ms: number, work: () => unknown): Promise<void> => {
    await sleep(Math.max(ms - nowMs(), 0));
    await work();
  };

  /** The moment at which a kill strikes, or a while later if it does not come. */
  async function moment(replica: RealReplica, { moment: which, n }: Blow): Promise<() => void> {
    let left = n;
    const none = (): void => undefined;
    const late = sleep(5_000).then(() => none);
    if (which === 'post' && replica.role === 'watcher') {
      const posting = Promise.withResolvers<() => void>();
      world.onCall((method) => method === 'sendMessage' && posting.resolve(none));
      return Promise.race([posting.promise, late]);
    }
    if (which === 'any') return none;
    const hold = random.chance(0.5) ? replica.proxy.holdBefore : replica.proxy.holdAfter;
    let isLate = false;
    const held = hold((write) => !isLate && !write.dryRun && --left <= 0).then(({ drop }) => drop);
    return Promise.race([held, late]).finally(() => void (isLate = true));
  }

  async function strike(replica: RealReplica, blow: Blow): Promise<void> {
    const running = replica.running();
    if (!running) return;
    if (blow.what === 'pause') {
      running.kill('SIGSTOP');
      replica.pauses += 1;
      await sleep(blow.forMs);
      return running.kill('SIGCONT');
    }
    if (blow.what === 'stop') wrong.push(...(await replica.stop()));
    else {
      const drop = await moment(replica, blow);
      if (replica.running() !== running) return drop();
      await replica.kill();
      drop();
    }
    await sleep(blow.forMs);
    if (!replica.running() && !over.signal.aborted) await start(replica);
  }

  /** Who is struck, as the Lease says it then. */
  function struckBy({ role, whom }: Blow): RealReplica[] {
    const own = replicas.filter((one) => one.role === role);
    if (own.length === 1 || whom === 'both') return own;
    const leader = own.find(({ id }) => world.leader(role)?.startsWith(`${id}_`)) ?? own[0]!;
    return whom === 'leader' ? [leader] : own.filter((one) => one !== leader);
  }

  const ofTrouble = (key: string): Remediation[] => fixes().filter(({ spec }) => spec.incident.key === key);
  const people = (async () => {
    const seen = new Map<string, number>();
    while (!over.signal.aborted) {
      await sleep(500);
      for (const trouble of plan.troubles) {
        const fix = ofTrouble(keyOf(trouble)).at(-1);
        if (!fix || trouble.decision === 'nobody' || fix.spec.approval.state !== 'Pending') continue;
        const button = world.button(
          fix,
          trouble.decision === 'approve' ? /^(?:\d+ )?(?:Roll back|Delete|Restart|Scale|Use image|Yes)/ : /^Reject/,
        );
        if (!button) continue;
        if (!seen.has(trouble.name)) seen.set(trouble.name, nowMs() + trouble.decidedAfterMs);
        if (nowMs() < seen.get(trouble.name)!) continue;
        telegram.press(button.data, { from: ada, message: button.message });
        seen.set(trouble.name, nowMs() + 3_000);
      }
    }
  })();

  await Promise.all([
    ...plan.troubles.map((trouble) => at(trouble.atMs, () => breakIt(api, trouble))),
    ...plan.spells.map((spell) => at(spell.fromMs, () => begin(spell))),
    ...plan.blows.map((blow) =>
      at(blow.atMs, () => Promise.all(struckBy(blow).map((replica) => strike(replica, blow)))),
    ),
    sleep(realPace.calmMs),
  ]);
  for (const { proxy } of replicas) proxy.heal();
  telegram.heal();

  const isPosted = (key: string): boolean => {
    const uids = ofTrouble(key).map(({ metadata }) => metadata.uid);
    return notices().some(({ spec, status }) => status?.message && spec.members.some(({ uid }) => uids.includes(uid)));
  };
  await comesTrue(() => plan.troubles.every((trouble) => isPosted(keyOf(trouble))), patienceMs);
  await sleep(realPace.longestThoughtMs + 2_000);
  over.abort();
  await people;
  for (const trouble of plan.troubles) if (!(await isWell(api, trouble))) await healIt(api, trouble);
  await comesTrue(() => fixes().every(isCleared) && bindings().length === 0, patienceMs);

  for (const replica of replicas) {
    const { pid } = replica.running()!;
    const before = filesAtFirst.get(pid);
    const now = await openFiles(pid);
    if (before !== undefined && now > before + spareFiles)
      wrong.push(`${replica.role} ${replica.n} has ${now} open files; there were ${before}`);
  }
  const books = {
    incidents: plan.troubles.map((trouble) => ({ key: keyOf(trouble), decision: trouble.decision })),
    fixes: fixes(),
    notices: notices(),
    posts: postsOf(world, faults),
    executions,
    bindings: bindings(),
    wrong,
  };
  for (const replica of replicas) wrong.push(...(await replica.stop()));
  for (const pid of pids) if (isAlive(pid)) wrong.push(`the process ${pid} is still there`);
  const sumOver = (count: (replica: RealReplica) => number): number =>
    replicas.reduce((sum, replica) => sum + count(replica), 0);
  const struck = {
    kills: sumOver(({ kills }) => kills),
    pauses: sumOver(({ pauses }) => pauses),
    terms: sumOver(({ terms }) => terms()),
    repeated: orphans(telegram.messages(), notices()).length,
  };
  const report = reportOf('real', { plan, books, faults, struck, cpuMs: 0 });
  if (report.wrong.length > 0) report.books.push(...replicas.flatMap((replica) => replica.complaints()));
  return report;
}

/**
 * Each message; one that no Notice knows is explained by a watcher that was killed or did not lead any more, by a lost
 * answer, or by nothing.
 */
function postsOf({ telegram, notices, replicas }: RealWorld, faults: ReadonlyMap<string, number>): Post[] {
  const ends = replicas
    .filter(({ role }) => role === 'watcher')
    .reduce((sum, { kills, losses }) => sum + kills + losses(), 0);
  let explained = ends + (faults.get('chat lost') ?? 0) + (faults.get('chat no answer') ?? 0);
  const unknown = orphans(telegram.messages(), notices());
  const postOf = (notice: string, form: Post['form'], unheard: boolean): Post => ({
    notice,
    form,
    by: 'a watcher',
    known: false,
    unheard,
  });
  return notices().flatMap(({ metadata, spec, status }) => {
    const isItsOwn = ({ text }: { text: string }): boolean =>
      spec.members.some(({ name }) => text.includes(name.replace(/-[0-9a-f]{6}-\d+$/, '')));
    const before = unknown.filter(isItsOwn).map(() => postOf(metadata.name, spec.form, explained-- > 0));
    return status?.message ? [...before, postOf(metadata.name, spec.form, false)] : before;
  });
}
