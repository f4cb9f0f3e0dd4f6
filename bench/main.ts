import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Counts } from './counts.ts';
import { counts, here, image, start, startServer, stop, stopAll, until } from './processes.ts';
import { tellingInWords } from './telling.ts';
import { measureNoise, type NoiseCost } from './noise.ts';
import { type Stall, stallOf, type Taken, taken, watcher } from './watcher.ts';

/**
 * `npm run bench`: how fast street 1 is, what it takes, and client-node's informer on the same input in the same run.
 * Figures are this machine's; the ratios travel, and on a busy machine the time of a CPU. Nothing here passes or fails.
 *
 * What bounds them. Events per second: garbage collection, a third of the time, because the image keeps the young generation
 * small; without its flags a CPU did 1.6 times as many, and took 80 MB more. Memory after a burst: V8 lets the old generation
 * grow by a third before it collects, and lets garbage lie for long (src/ops/tidy.ts collects it). Stalls: a
 * page of 250 objects is decoded and handed on in one go.
 */
const quick = process.argv.includes('--quick');
const many = quick ? 10_000 : 100_000;

interface Throughput {
  perSecond: number;
  /** Events for each second of a CPU: what others do on this machine does not count. */
  perCpuSecond: number;
  grewMb: number;
}

/** From the first byte of the first event to the decision about the last. */
async function throughput(program: string): Promise<Throughput> {
  const server = await startServer();
  const watched = server.reported('watched');
  const reader = start(join(here, program), [String(server.port)], image.flags, image.env);
  await watched;
  await sleep(1_000);
  const before = await counts(reader);
  await server.send('events', 0, 2_000); // warm
  await until(reader, ({ done }) => done >= before.done + 2_000);
  const warm = await counts(reader);
  const beganMs = await server.send('events', 2_000, many);
  const after = await until(reader, ({ done }) => done >= warm.done + many);
  await Promise.all([stop(reader), server.stop()]);
  return {
    perSecond: many / ((after.lastMs - beganMs) / 1000),
    perCpuSecond: many / ((after.cpuMs - warm.cpuMs) / 1000),
    grewMb: after.rssMb - before.rssMb,
  };
}

/** One event at a time, from before it is written to its decision. */
async function latency(times = 300): Promise<{ p50: number; p99: number }> {
  const server = await startServer();
  const watched = server.reported('watched');
  const reader = start(join(here, 'street.ts'), [String(server.port)], image.flags, image.env);
  await watched;
  await sleep(1_000);
  reader.send('follow');
  const took: number[] = [];
  for (let n = 0; n < times; n++) {
    const decided = once(reader, 'message') as Promise<[Counts]>;
    const atMs = await server.ping(n);
    took.push((await decided)[0].lastMs - atMs);
    await sleep(5);
  }
  await Promise.all([stop(reader), server.stop()]);
  took.sort((a, b) => a - b);
  return { p50: took[Math.floor(times * 0.5)]!, p99: took[Math.floor(times * 0.99)]! };
}

async function memory(folder: string) {
  const server = await startServer();
  const watched = server.reported('watched');
  const program = await watcher(server.port, folder);
  await watched;
  await sleep(12_000);
  const idle = await taken(program);
  await server.send('events', 0, 10_000);
  await sleep(5_000);
  const some = await taken(program);
  await server.send('pods', 0, 5_000);
  await server.send('events', 10_000, many);
  await sleep(quick ? 5_000 : 15_000);
  const all = await taken(program);
  await sleep(30_000); // what is garbage is given back once it is quiet, not at once
  const later = await taken(program);
  await Promise.all([stop(program), server.stop()]);
  return { idle, some, all, later };
}

async function longList(folder: string): Promise<Taken> {
  const server = await startServer();
  server.order({ do: 'hold', events: many, pods: 5_000 });
  const [first, last] = [server.reported('first-page'), server.reported('last-page')];
  const program = await watcher(server.port, folder);
  await first;
  await stallOf(program); // that it was loaded is over
  await last;
  await sleep(1_000);
  const found = await taken(program);
  await Promise.all([stop(program), server.stop()]);
  return found;
}

/** Events about pods that are gone, and then a storm; and how the cost grows with pods and with Events a minute. */
async function noise(folder: string): Promise<void> {
  const events = quick ? 10_000 : 50_000;
  const row = (what: string, { requestsPerEvent, cpuSeconds, peakMb, isKilled }: NoiseCost): void =>
    say(
      what,
      `${requestsPerEvent.toFixed(3)} req.`,
      `${cpuSeconds.toFixed(1)} s of a CPU, peak ${mb(peakMb)}${isKilled ? ', KILLED' : ''}`,
    );
  const burst = { pods: 0, events, perSecond: 5_000, storm: quick ? 100 : 1_000 };
  console.log('\nEvents about pods that are gone, in a cgroup of 256Mi: requests for each Event (0.05 wanted)');
  row(`${events} Events, then ${burst.storm} workloads break`, await measureNoise(folder, burst));
  for (const pods of quick ? [1_000, 10_000] : [1_000, 10_000, 100_000])
    row(`${pods} pods, 5000 Events at once`, await measureNoise(folder, { ...burst, pods, events: 5_000, storm: 0 }));
  for (const perMinute of quick ? [20_000] : [1_000, 5_000, 20_000]) {
    const load = { pods: 1_000, events: perMinute / 2, perSecond: perMinute / 60, storm: 0 };
    row(`${perMinute} Events a minute for half a minute`, await measureNoise(folder, load));
  }
}

const mb = (value: number): string => `${value.toFixed(0)} MB`;
const say = (what: string, figure: string, note = ''): void =>
  console.log(`${what.padEnd(56)} ${figure.padStart(14)}  ${note}`);
const more = ({ rssMb }: Taken, than: Taken): string => `${(rssMb - than.rssMb).toFixed(0)} MB more`;
const stalls = ({ stallMs, busyMs }: Stall, note = ''): void =>
  say(
    'longest stall of its event loop meanwhile',
    `${stallMs.toFixed(0)} ms`,
    `${busyMs.toFixed(0)} ms of a CPU in one go${note}`,
  );

const folder = await mkdtemp(join(tmpdir(), 'tapfix-bench-'));
try {
  console.log(
    `street 1, ${many} Warning events over a loopback watch; load of this machine: ${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} CPUs\n`,
  );
  const ours = await throughput('street.ts');
  const theirs = await throughput('informer.ts');
  const raw = await throughput('raw.ts');
  const ratio = (of: keyof Throughput, to: Throughput): string => (ours[of] / to[of]).toFixed(2);
  say('events per second, bytes to decision', ours.perSecond.toFixed(0), '20000 wanted');
  say("client-node's informer, bytes to callback", theirs.perSecond.toFixed(0), `ratio ${ratio('perSecond', theirs)}`);
  say('lines decoded and nothing else', raw.perSecond.toFixed(0), `ratio ${ratio('perSecond', raw)}`);
  say('events per second of a CPU, bytes to decision', ours.perCpuSecond.toFixed(0));
  say("client-node's informer", theirs.perCpuSecond.toFixed(0), `ratio ${ratio('perCpuSecond', theirs)}`);
  say('lines decoded and nothing else', raw.perCpuSecond.toFixed(0), `ratio ${ratio('perCpuSecond', raw)}`);
  say('memory that took, ours', mb(ours.grewMb));
  say('memory that took, the informer', mb(theirs.grewMb), `ratio ${ratio('grewMb', theirs)}`);
  const { p50, p99 } = await latency();
  say('one event, written to decided, p50', `${p50.toFixed(2)} ms`);
  say('one event, written to decided, p99', `${p99.toFixed(2)} ms`);
  for (const [what, figure, note] of await tellingInWords(quick ? 30 : 100)) say(what, figure, note);
  const { idle, some, all, later } = await memory(folder);
  say('watcher (bundle, Telegram only), idle', mb(idle.rssMb), 'at most 110 MB wanted');
  say('after 10000 events', mb(some.rssMb), more(some, idle));
  say(`after ${many} events and 5000 pods`, mb(all.rssMb), more(all, idle));
  stalls(all);
  say('half a minute later', mb(later.rssMb), `${more(later, idle)}, 10 wanted`);
  const list = await longList(folder);
  say(`a start with ${many} events and 5000 pods: peak`, mb(list.peakMb));
  stalls(list, ', 100 wanted');
  await noise(folder);
} finally {
  await stopAll();
  await rm(folder, { recursive: true, force: true });
}
