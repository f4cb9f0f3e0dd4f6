import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { UserError } from '../src/lib/errors.ts';
import { chatFaults, requestFaults, type Spell, type Trouble, watchFaults } from '../test/faults/plan.ts';
import { createRealWeather } from '../test/faults/real-weather.ts';
import { aRealWorld, openFiles, type RealReplica, residentMb } from '../test/faults/real-world.ts';
import { randomOf } from '../test/long/random.ts';
import { oneIncident } from './soak/incident.ts';
import { pageOf } from './soak/page.ts';
import { type Pulse, type Sample, verdictOf, warmUpMs } from './soak/verdict.ts';

const help = `npm run soak -- [options]

Real processes of tapfix on a simulated cluster, with incidents, approvals and faults all the time. It measures memory,
handles, event-loop delay and API requests, keeps the books, and writes a report. It ends with 1 if the memory grows by
more than 1 MB in 10 minutes after the warm-up, if handles grow, or if the books do not balance.

  --minutes N   how long new incidents begin (30)
  --seed N      of the incidents and faults (1)
  --out FILE    the report (soak-report.html)
  --help        this text`;

const lanes = 3;
const sampleEveryMs = 5_000;

interface Options {
  minutes: number;
  seed: number;
  out: string;
}

function optionsIn(words: string[]): Options | undefined {
  const options = {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string', default: 'soak-report.html' },
    help: { type: 'boolean' },
  } as const;
  let values;
  try {
    ({ values } = parseArgs({ args: words, options }));
  } catch (error) {
    const [said = ''] = (error as Error).message.split(/\. |\n/);
    throw new UserError(`${said.replace(/\.$/, '')}; --help lists the options.`, 2);
  }
  if (values.help) return undefined;
  const minutes = Number(values.minutes);
  if (!(minutes >= 1 && minutes <= 10_000))
    throw new UserError(`--minutes must be a number from 1 to 10000, not "${values.minutes}".`, 2);
  if (!/^[1-9]\d{0,8}$/.test(values.seed))
    throw new UserError(`--seed must be a whole number from 1 on, not "${values.seed}".`, 2);
  return { minutes, seed: Number(values.seed), out: values.out };
}

async function soak({ minutes, seed, out }: Options): Promise<number> {
  const random = randomOf(seed);
  const world = await aRealWorld({ namespaces: ['shop'], config: { retention: '2m' } });
  const counts = new Map<string, number>();
  const samples: Sample[] = [];
  const pulses: Pulse[] = [];
  const spells: Spell[] = [];
  const wrong: string[] = [];
  const books = { incidents: 0, closed: 0 };
  const startedAt = new Date().toISOString();
  let startMs = performance.now();
  const nowMs = (): number => performance.now() - startMs;
  const stop = new AbortController(); // Ctrl-C: no new incident, and the report of what there is
  process.once('SIGINT', () => stop.abort());
  const goesOn = (): boolean => nowMs() < minutes * 60_000 && !stop.signal.aborted;

  async function lane(): Promise<void> {
    while (goesOn()) {
      const n = ++books.incidents;
      const trouble: Trouble = {
        kind: random.pick(['crash', 'oom', 'image', 'config'] as const),
        namespace: 'shop',
        name: `app-${n}`,
        atMs: 0,
        decision: random.pick(['approve', 'approve', 'reject', 'nobody'] as const),
        decidedAfterMs: 0,
      };
      const mayRepeat = (): boolean => counts.has('chat lost') || counts.has('chat no answer');
      const found = await oneIncident(world, trouble, mayRepeat);
      for (const line of found) console.log(`WRONG after ${Math.round(nowMs() / 1000)} s: ${line}`);
      if (found.length > 0)
        for (const line of world.replicas.flatMap((one) => one.complaints())) console.log(`  ${line}`);
      wrong.push(...found);
      if (found.length === 0) books.closed += 1;
    }
  }

  async function weather(): Promise<void> {
    const begin = createRealWeather({ world, random, nowMs, counts });
    while (goesOn()) {
      await sleep(random.int(10_000, 30_000));
      for (const { proxy } of world.replicas) proxy.heal();
      world.telegram.heal();
      if (!goesOn()) return;
      const what = random.pick([...requestFaults, ...watchFaults, ...chatFaults]);
      const spell: Spell = {
        what,
        role: random.pick(['watcher', 'controller', 'both'] as const),
        fromMs: nowMs(),
        forMs: random.int(1_000, 8_000),
        share: random.pick([0.2, 0.5, 1]),
      };
      spells.push(spell);
      begin(spell);
    }
  }

  async function sample(replica: RealReplica, port: number): Promise<void> {
    const { pid } = replica.running()!;
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const [, p99 = '0'] = /^nodejs_eventloop_lag_p99_seconds ([\d.e+-]+)/m.exec(text) ?? [];
    samples.push({
      atMs: nowMs(),
      role: replica.role,
      rssMb: await residentMb(pid),
      handles: await openFiles(pid),
      delayMs: Number(p99) * 1000,
    });
  }

  try {
    await Promise.all(world.replicas.map((replica) => replica.start()));
    const ports = await Promise.all(
      world.replicas.map(async (replica) =>
        Number((await replica.running()!.says('operations server listens'))['port']),
      ),
    );
    startMs = performance.now();
    /** The last incidents end unmeasured, because nothing new begins beside them. */
    const measuring = (async () => {
      let before = { requests: world.requests(), atMs: nowMs() };
      for (let n = 0; goesOn(); n++) {
        await sleep(sampleEveryMs);
        for (const [index, replica] of world.replicas.entries()) await sample(replica, ports[index]!);
        const now = { requests: world.requests(), atMs: nowMs() };
        const requestsPerMinute = ((now.requests - before.requests) / (now.atMs - before.atMs)) * 60_000;
        before = now;
        pulses.push({
          atMs: now.atMs,
          requestsPerMinute,
          incidents: books.incidents,
          closed: books.closed,
          wrong: wrong.length,
        });
        if (n % 12 === 11) console.log(progress(samples, pulses.at(-1)!, minutes));
      }
    })();
    console.log(`${minutes} minutes, seed ${seed}; the report goes to ${out}`);
    await Promise.all([...Array.from({ length: lanes }, lane), weather()]);
    await measuring;
    for (const replica of world.replicas) wrong.push(...(await replica.stop()));
  } finally {
    await world.close();
  }
  const findings = verdictOf(samples, wrong, minutes);
  const all = {
    incidents: books.incidents,
    closed: books.closed,
    executions: world.executions.length,
    messages: world.telegram.messages().length,
    'API requests': world.requests(),
    ...Object.fromEntries([...counts].map(([what, times]) => [`fault: ${what}`, times])),
  };
  await writeFile(
    out,
    pageOf({
      minutes,
      startedAt,
      seed,
      samples,
      pulses,
      spells,
      warmUpMs: warmUpMs(minutes),
      findings,
      wrong,
      counts: all,
    }),
  );
  console.log(
    Object.entries(all)
      .map(([what, times]) => `${times} ${what}`)
      .join(', '),
  );
  for (const { ok, text } of findings) console.log(`${ok ? 'ok    ' : 'FAILED'} ${text}`);
  console.log(`report: ${out}`);
  return findings.every(({ ok }) => ok) ? 0 : 1;
}

function progress(
  samples: readonly Sample[],
  { atMs, requestsPerMinute, incidents, closed, wrong }: Pulse,
  minutes: number,
): string {
  const last = [...new Set(samples.map(({ role }) => role))].map((role) => {
    const { rssMb, handles } = samples.findLast((one) => one.role === role)!;
    return `${role} ${rssMb.toFixed(0)} MB, ${handles} handles`;
  });
  const time = `${(atMs / 60_000).toFixed(1)} of ${minutes} min`;
  return `${time}: ${last.join('; ')}; ${requestsPerMinute.toFixed(0)} requests a minute; ${closed} of ${incidents} incidents closed, ${wrong} wrong`;
}

try {
  const options = optionsIn(process.argv.slice(2));
  if (options) process.exitCode = await soak(options);
  else console.log(help);
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  console.error(error.message);
  process.exitCode = error.exitCode;
}
