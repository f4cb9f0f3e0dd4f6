import { type Clock, iso } from '../lib/clock.ts';
import { counted } from '../lib/counted.ts';
import { cut } from '../lib/cut.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { hashOf } from '../lib/hash.ts';
import { type Log, scrub } from '../lib/log.ts';
import { changesBetween } from './changes.ts';
import { BadConfig, configIn } from './load.ts';
import type { Problem } from './problem.ts';
import type { Config } from './schema.ts';

/** The file was changed, and what stands in it now is not used. */
export interface Refusal {
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

export interface LiveConfigDeps<Built> {
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

export interface LiveConfig {
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
