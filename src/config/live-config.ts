import { type Clock, iso } from '../lib/clock.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { hashOf, sameValue } from '../lib/hash.ts';
import { type Log, scrub } from '../lib/log.ts';
import { counted, cut } from '../lib/text.ts';
import { humanConfig } from './human.ts';
import { BadConfig, configIn } from './load.ts';
import { type Path, pathText, type Problem } from './problem.ts';
import type { Config } from './schema.ts';

/** One field that is not what it was, as the file would write it. */
interface FieldChange {
  field: string;
  from: string;
  to: string;
}

const longestValue = 200;
/** Nobody reads on after these. */
const mostChanges = 50;
/** Whoever knows it can ping in our name. */
const secretFields: readonly string[] = ['heartbeat.url'];

/** Pure. What changed, field by field, defaults included. */
export function changesBetween(before: Config, now: Config): FieldChange[] {
  return changesIn(humanConfig(before), humanConfig(now), []).slice(0, mostChanges);
}

function changesIn(before: unknown, now: unknown, path: Path): FieldChange[] {
  if (sameValue(before, now)) return [];
  const keys = isBranch(before) && isBranch(now) && Array.isArray(before) === Array.isArray(now);
  if (!keys) return [changeOf(path, before, now)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return names.flatMap((name) =>
    changesIn(before[name], now[name], [...path, Array.isArray(before) ? Number(name) : name]),
  );
}

const isBranch = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function changeOf(path: Path, before: unknown, now: unknown): FieldChange {
  const field = pathText(path);
  const words = (value: unknown): string => {
    if (value === undefined) return 'not set';
    if (secretFields.includes(field)) return value === '' ? '""' : '(not shown)';
    return cut(scrub(JSON.stringify(value)), longestValue);
  };
  return { field, from: words(before), to: words(now) };
}

/** The file was changed, and what stands in it now is not used. */
interface Refusal {
  at: string;
  /** The first thing that is wrong, in one line. */
  problem: string;
}

/** What is in force now, and what was; `built` was made for it before anything was swapped. */
export interface Reload<Built> {
  before: Config;
  now: Config;
  built: Built;
}

interface LiveConfigDeps<Built> {
  file: string;
  config: Config;
  clock: Clock;
  log: Log;
  /** Everything that may fail. A throw keeps the configuration that is in force. */
  build(config: Config): Promise<Built>;
  onSwap?(reload: Reload<Built>): void;
  /** For counting. */
  onResult?(result: 'taken' | 'refused'): void;
}

interface LiveConfig {
  current(): Config;
  /** Of what is in force. */
  hash(): string;
  refusal(): Refusal | undefined;
  /** Throws when it cannot be used; then nothing has changed. */
  take(text: string): Promise<void>;
  refuse(error: unknown): void;
  /** What is in force stands in the file again. */
  asBefore(): void;
}

/** The configuration in force: replaced as a whole by one that is complete, or not at all. */
export function createLiveConfig<Built>({ file, clock, log, ...deps }: LiveConfigDeps<Built>): LiveConfig {
  let { config } = deps;
  let refusal: Refusal | undefined;
  const hash = (): string => hashOf(config, 12);

  return {
    current: () => config,
    hash,
    refusal: () => refusal,
    async take(text) {
      const now = configIn(text, file);
      const built = await deps.build(now);
      const before = config;
      config = now;
      refusal = undefined;
      log.info({ hash: hash(), changes: changesBetween(before, now) }, 'configuration changed');
      if (!isSame(before.server, now.server)) log.warn({}, 'the change of server takes effect at the next start');
      deps.onResult?.('taken');
      deps.onSwap?.({ before, now, built });
    },
    refuse(error) {
      refusal = { at: iso(clock.now()), problem: problemOf(error) };
      log.error({ reason: refusal.problem, hash: hash() }, 'configuration change refused, the old one stays');
      deps.onResult?.('refused');
    },
    asBefore() {
      if (refusal) log.info({ hash: hash() }, 'configuration is as before');
      refusal = undefined;
    },
  };
}

const isSame = (a: Config['server'], b: Config['server']): boolean => a.host === b.host && a.port === b.port;

const longestProblem = 400;

/** One line: the first problem with its line, and how many more there are. */
export function problemOf(error: unknown): string {
  if (!(error instanceof BadConfig))
    return cut(scrub(error instanceof UserError ? error.message : messageOf(error)), longestProblem);
  const [first, ...others] = error.problems;
  const more = others.length > 0 ? `, and ${counted(others.length, 'more problem')}` : '';
  return `${inWords(first!)}${more}`;
}

const inWords = ({ path, message, line }: Problem): string =>
  `${cut(`${path ? `${path} ` : ''}${message}`, longestProblem)} (line ${line})`;
