/** Chance that can be repeated: the same seed, the same run (mulberry32). */
export function randomOf(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let warm = 0; warm < 3; warm++) next();
  return {
    next,
    chance: (probability: number): boolean => next() < probability,
    int: (from: number, to: number): number => from + Math.floor(next() * (to - from + 1)),
    pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!,
  };
}
export type Random = ReturnType<typeof randomOf>;

/** `SEED=17 npm run test:long` repeats one run of a failure. */
export const seeds = (count: number): number[] =>
  process.env['SEED'] ? [Number(process.env['SEED'])] : Array.from({ length: count }, (_, n) => n + 1);

/** Runs each seed; the first failure names its seed. Jitter is chance as well, so it comes from the seed too. */
export async function forSeeds<T>(count: number, run: (seed: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (const seed of seeds(count)) {
    const { random } = Math;
    Math.random = randomOf(seed ^ 0x5eed).next;
    try {
      results.push(await run(seed));
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    } finally {
      Math.random = random;
    }
  }
  return results;
}
