import { parseArgs } from 'node:util';
import { UserError } from '../../src/lib/errors.ts';

/** What to run: the seeds of each form. */
export interface Wanted {
  virtual: number[];
  real: number[];
}

export const help = `npm run test:faults -- [options]

Seeded runs of tapfix on the simulated cluster with faults; after each the books must balance.

  --virtual     only runs in virtual time, in this process
  --real        only runs with real processes, over HTTP, through a proxy that breaks connections
  --seed N      only the run of this seed: with neither of the above, that in virtual time
  --runs N      so many runs, from seed 1 or from --seed on
  --long        10000 runs in virtual time and 100 with real processes, instead of 500 and 12
  --help        this text`;

const short = { virtual: 500, real: 12 };
const long = { virtual: 10_000, real: 100 };

function whole(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UserError(`--${name} must be a whole number from 1 on, not "${text}".`, 2);
  return Number(text);
}

/** Undefined: only the help is wanted. */
export function wantedIn(words: readonly string[]): Wanted | undefined {
  const options = {
    virtual: { type: 'boolean' },
    real: { type: 'boolean' },
    long: { type: 'boolean' },
    help: { type: 'boolean' },
    seed: { type: 'string' },
    runs: { type: 'string' },
  } as const;
  const given = parsed(() => parseArgs({ args: [...words], options }).values);
  if (given.help) return undefined;
  if (given.virtual && given.real)
    throw new UserError('--virtual and --real exclude each other: leave both out to run both.', 2);
  const seed = given.seed === undefined ? undefined : whole('seed', given.seed);
  const runs = given.runs === undefined ? (seed === undefined ? undefined : 1) : whole('runs', given.runs);
  const usual = given.long ? long : short;
  const seeds = (count: number): number[] => Array.from({ length: count }, (_, n) => (seed ?? 1) + n);
  const onlyVirtual = given.virtual || (!given.real && seed !== undefined);
  return {
    virtual: given.real ? [] : seeds(runs ?? usual.virtual),
    real: onlyVirtual ? [] : seeds(given.real ? (runs ?? usual.real) : Math.min(runs ?? usual.real, usual.real)),
  };
}

/** What Node's own parser says about a wrong option, in one sentence. */
function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const [said = ''] = (error as Error).message.split(/\. |\n/);
    throw new UserError(`${said.replace(/\.$/, '')}; --help lists the options.`, 2);
  }
}
