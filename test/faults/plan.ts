import type { Random } from '../long/random.ts';

/** What breaks, and what people decide about it. */
export type TroubleKind = 'crash' | 'oom' | 'image' | 'config' | 'quota';
export interface Trouble {
  kind: TroubleKind;
  namespace: string;
  /** The Deployment, or the quota that blocks one. */
  name: string;
  atMs: number;
  decision: 'approve' | 'reject' | 'nobody';
  /** From the moment a button can be seen. */
  decidedAfterMs: number;
}

export type Role = 'watcher' | 'controller';
/** What one process plays. */
export type Part = Role | 'all';
/** What a server, or the way to it, can do to one request. */
export const requestFaults = ['429', '500', '503', 'reset', 'lost', 'black hole', 'slow', 'garbage', 'drip'] as const;
/** What can happen to a watch. */
export const watchFaults = ['410', 'garbage line', 'truncated line', 'half-open', 'cut'] as const;
/** What a chat vendor can do. `lost`: it was posted, and nobody hears of it. */
export const chatFaults = ['chat 429', 'chat 500', 'chat no answer', 'chat slow', 'chat lost'] as const;
export type RequestFault = (typeof requestFaults)[number];
export type WatchFault = (typeof watchFaults)[number];
export type ChatFault = (typeof chatFaults)[number];

/** For a while, a share of all requests of one role (or both), of all watches, or of all calls of the vendor. */
export interface Spell {
  what: RequestFault | WatchFault | ChatFault;
  role: Role | 'both';
  fromMs: number;
  forMs: number;
  share: number;
}
/**
 * `kill`: as kill -9 does, at the n-th moment of its kind from then on. `stop`: SIGTERM. Both are started again. `pause`:
 * SIGSTOP, and SIGCONT later.
 */
export interface Blow {
  what: 'kill' | 'stop' | 'pause';
  role: Role;
  /** Which of its replicas, when the time has come; one that has no other is always struck. */
  whom: 'leader' | 'follower' | 'both';
  atMs: number;
  /** Where a kill strikes: at any await, or at one of a write or a post. */
  moment: 'any' | 'write' | 'post';
  n: number;
  /** How long it is down, or paused. */
  forMs: number;
}
export interface Plan {
  seed: number;
  /** How many processes play each role. */
  replicas: number;
  /** Each process plays both roles. */
  together: boolean;
  troubles: Trouble[];
  spells: Spell[];
  blows: Blow[];
}

/** How fast a run goes. */
export interface Pace {
  /** Until here everything is well, so that a healthy revision has been seen. */
  quietMs: number;
  /** By then everything that breaks is broken. */
  brokenMs: number;
  /** From here on nothing goes wrong any more. */
  calmMs: number;
  longestSpellMs: number;
  longestBlowMs: number;
  /** Without a leader another one leads after 6 s: most are longer. */
  pauseMs: { from: number; to: number };
  longestThoughtMs: number;
}

export const virtualPace: Pace = {
  quietMs: 20_000,
  brokenMs: 50_000,
  calmMs: 110_000,
  longestSpellMs: 50_000,
  longestBlowMs: 20_000,
  pauseMs: { from: 2_000, to: 40_000 },
  longestThoughtMs: 20_000,
};
export const realPace: Pace = {
  quietMs: 4_000,
  brokenMs: 8_000,
  calmMs: 22_000,
  longestSpellMs: 8_000,
  longestBlowMs: 4_000,
  pauseMs: { from: 5_000, to: 9_000 },
  longestThoughtMs: 4_000,
};

const between = (random: Random, fromMs: number, toMs: number): number => random.int(fromMs / 100, toMs / 100) * 100;

export interface PlanOptions {
  pace?: Pace;
  /** The processes that play each role; otherwise it is drawn. */
  replicas?: number;
  together?: boolean;
  /** Faults that must be among those that are drawn. */
  certain?: readonly Spell['what'][];
  /** A blow to the leader that must be among them. */
  certainBlow?: Blow['what'] | undefined;
}

export function drawPlan(seed: number, random: Random, options: PlanOptions = {}): Plan {
  const { pace = virtualPace, certain = [], certainBlow } = options;
  const { replicas = seed % 3 === 0 ? 1 : 2, together = seed % 4 === 0 } = options;
  const { quietMs, brokenMs, calmMs } = pace;
  const drawn = (): Pick<Trouble, 'atMs' | 'decidedAfterMs'> => ({
    atMs: between(random, quietMs, brokenMs),
    decidedAfterMs: between(random, 500, pace.longestThoughtMs),
  });
  const troubles = Array.from({ length: random.pick([1, 1, 2, 2, 3]) }, (_, n): Trouble => ({
    kind: random.pick(['crash', 'crash', 'oom', 'image', 'config'] as const),
    namespace: 'shop',
    name: `app-${'abc'[n]}`,
    decision: random.pick(['approve', 'approve', 'approve', 'reject', 'nobody'] as const),
    ...drawn(),
  }));
  if (random.chance(0.25))
    troubles.push({
      kind: 'quota',
      namespace: 'bank',
      name: 'tight',
      decision: random.pick(['approve', 'approve', 'reject', 'nobody'] as const),
      ...drawn(),
    });
  const spell = (what: Spell['what']): Spell => {
    const fromMs = between(random, 0, calmMs * 0.85);
    return {
      what,
      role: random.pick(['watcher', 'controller', 'both'] as const),
      fromMs,
      forMs: Math.min(between(random, 1_000, pace.longestSpellMs), calmMs - fromMs),
      share: random.pick([0.05, 0.2, 0.5, 1]),
    };
  };
  const any = [...requestFaults, ...watchFaults, ...chatFaults];
  const others = Array.from({ length: random.int(0, 4) }, () => random.pick(any)).slice(certain.length);
  const spells = [...certain, ...others].map(spell);
  const blows = Array.from({ length: random.int(certainBlow ? 1 : 0, 3) }, (_, index): Blow => {
    const isCertain = certainBlow !== undefined && index === 0;
    const atMs = between(random, quietMs / 2, calmMs * 0.7);
    const drawnBlow = random.pick(['kill', 'kill', 'kill', 'pause', 'pause', 'stop'] as const);
    const what = isCertain ? certainBlow : drawnBlow;
    return {
      what,
      role: random.pick(['watcher', 'controller'] as const),
      whom: isCertain ? 'leader' : random.pick(['leader', 'leader', 'leader', 'follower', 'both'] as const),
      atMs,
      moment: random.pick(['any', 'write', 'post'] as const),
      n: random.int(1, 12),
      forMs:
        what === 'pause' ? between(random, pace.pauseMs.from, pace.pauseMs.to) : between(random, 0, pace.longestBlowMs),
    };
  });
  blows.sort((one, other) => one.atMs - other.atMs);
  return { seed, replicas, together, troubles, spells, blows };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** The plan in the order in which it happens, one line each. */
export function planLines({ replicas, together, troubles, spells, blows }: Plan): string[] {
  const all = [
    { atMs: 0, text: `${replicas} of ${together ? 'both roles together' : 'each role'} start` },
    ...troubles.map(({ atMs, kind, namespace, name, decision, decidedAfterMs }) => ({
      atMs,
      text: `${namespace}/${name} breaks (${kind}); ${decision}${decision === 'nobody' ? ' decides' : ` ${seconds(decidedAfterMs)} after it can be seen`}`,
    })),
    ...spells.map(({ fromMs, forMs, what, role, share }) => ({
      atMs: fromMs,
      text: `${what} for ${share * 100} % of the calls${what.startsWith('chat') ? '' : ` of ${role}`}, for ${seconds(forMs)}`,
    })),
    ...blows.map(({ atMs, what, role, whom, moment, n, forMs }) => ({
      atMs,
      text: `${what} ${whom} of ${role}${what === 'kill' ? ` at the ${n}. ${moment} moment` : ''}, for ${seconds(forMs)}`,
    })),
  ];
  return all.sort((a, b) => a.atMs - b.atMs).map(({ atMs, text }) => `${seconds(atMs).padStart(8)}  ${text}`);
}
