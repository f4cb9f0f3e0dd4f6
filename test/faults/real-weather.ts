import type { Failure } from '../cluster/fault-proxy.ts';
import type { Random } from '../long/random.ts';
import { tooManyRequests } from '../support/fake-telegram.ts';
import { type Spell, watchFaults } from './plan.ts';
import type { RealWorld } from './real-world.ts';

/** What a spell is to the proxy; `slow` and `cut` are not failures of one request. */
const failures: Partial<Record<Spell['what'], Failure>> = {
  '429': 429,
  '500': 500,
  '503': 503,
  reset: 'reset',
  lost: 'lost',
  'black hole': 'black hole',
  garbage: 'garbage',
  drip: 'drip',
  '410': 410,
  'garbage line': 'garbage',
  'truncated line': 'truncated',
  'half-open': 'half-open',
};
const vendorFaults = {
  'chat 429': tooManyRequests(2),
  'chat 500': { status: 502, body: '<html>Bad Gateway</html>' },
  'chat no answer': 'silence',
  'chat slow': 'hang up',
  'chat lost': 'lost',
} as const;
const isVendorFault = (what: string): what is keyof typeof vendorFaults => Object.hasOwn(vendorFaults, what);

interface RealWeatherDeps {
  world: RealWorld;
  random: Random;
  /** The time of the plan. */
  nowMs(): number;
  /** What went wrong, and how often. */
  counts: Map<string, number>;
}

/** Begins a spell, when its time has come; it ends by itself. */
export function createRealWeather({ world, random, nowMs, counts }: RealWeatherDeps): (spell: Spell) => void {
  const { replicas, telegram } = world;
  const count = (what: string): true => (counts.set(what, (counts.get(what) ?? 0) + 1), true);

  return ({ what, role, fromMs, forMs, share }) => {
    const isOn = (): boolean => nowMs() >= fromMs && nowMs() < fromMs + forMs && random.chance(share);
    const ofWatch = (watchFaults as readonly string[]).includes(what);
    for (const { proxy, role: whose } of replicas) {
      if (role !== 'both' && role !== whose) continue;
      const failure = failures[what];
      const match = ({ query }: { query: string }): boolean =>
        (!ofWatch || query.includes('watch=true')) && isOn() && count(what);
      if (failure !== undefined) proxy.fail(match, failure, Infinity);
      if (what === 'slow') proxy.delay(match, random.int(200, 4_000), Infinity);
      if (ofWatch) proxy.cut(); // otherwise no watch would begin within the spell
      if (what === 'cut') count(what);
    }
    if (!isVendorFault(what)) return;
    for (const method of ['sendMessage', 'editMessageText'] as const)
      for (let n = random.int(1, 2); n > 0; n--) {
        telegram.fail(method, vendorFaults[what]);
        count(what);
      }
  };
}
