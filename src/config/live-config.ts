import { type Clock, iso } from '../lib/clock.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { hashOf, sameValue } from '../lib/hash.ts';
import { type Log, scrub } from '../lib/log.ts';
import { counted, cut } from '../lib/text.ts';
import { humanConfig } from './human.ts';
import { BadConfig, configIn } from './load.ts';
import { type Path, pathText, type Problem } from './problem.ts';
import type { Config } from './schema.ts';

/** One field that has changed, with its values as the file would write them. */
interface FieldChange {
  field: string;
  from: string;
  to: string;
}

const longestValue = 200;
/** Nobody reads more than this. */
const mostChanges = 50;
/** Anybody who knows this URL can ping in our name. */
const secretFields: readonly string[] = ['heartbeat.url'];

/** Pure. The changes field by field, defaults included. */
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

/** The file was changed, but its content is not used. */
interface Refusal {
  at: string;
  /** The first mistake, in one line. */
  problem: string;
}

/** The configurations before and after; `built` was made for the new one before anything was swapped. */
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
  /** Does everything that may fail. If it throws, the configuration in force stays. */
  build(config: Config): Promise<Built>;
  onSwap?(reload: Reload<Built>): void;
  /** For counting. */
  onResult?(result: 'taken' | 'refused'): void;
}

interface LiveConfig {
  current(): Config;
  /** The hash of the configuration in force. */
  hash(): string;
  refusal(): Refusal | undefined;
  /** Throws when the text cannot be used; then nothing has changed. */
  take(text: string): Promise<void>;
  refuse(error: unknown): void;
  /** The file has the content in force again. */
  asBefore(): void;
}

/** The configuration in force. It is replaced as a whole by a complete one, or not at all. */
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
      for (const key of onlyAtStart)
        if (!sameValue(before[key], now[key])) log.warn({}, `the change of ${key} takes effect at the next start`);
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

const onlyAtStart = ['server', 'leaderElection'] as const;

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
