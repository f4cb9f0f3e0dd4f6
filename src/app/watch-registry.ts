import { once } from 'node:events';
import type { Sight } from '../kube/contact.ts';
import type { Scope } from '../kube/feed.ts';
import type { Watch } from '../kube/watch.ts';
import type { Clock } from '../lib/clock.ts';
import { seesAll } from '../notices/plan/blindness.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Readiness } from '../ops/readiness.ts';

interface WatchRegistryDeps {
  clock: Clock;
  metrics: Pick<Metrics, 'watchSilence' | 'watchUp'>;
  readiness: Readiness;
  signal: AbortSignal;
}

/** Every watch that runs, by its name and scope; they come and go with the configuration. */
export interface WatchRegistry {
  /** `after`: it does not begin before. */
  open(name: string, scope: Scope, watch: Watch, after?: Promise<unknown> | undefined): void;
  close(name: string, scope: Scope): void;
  scopesOf(name: string): Scope[];
  relist(name: string): void;
  /** How far we see. */
  sights(): Sight[];
  /** How long ago the last of them heard from the server; 0 if there is none of that name. */
  silentMs(name: string): number;
  /** Resolves when, after the signal, all of them have ended. */
  ended(): Promise<void>;
}

interface Running {
  watch: Watch;
  stop: AbortController;
}

export function createWatchRegistry({ clock, metrics, readiness, signal }: WatchRegistryDeps): WatchRegistry {
  const groups = new Map<string, Map<Scope, Running>>();
  const loops = new Set<Promise<void>>();
  const watchesOf = (name: string): Watch[] => [...(groups.get(name)?.values() ?? [])].map(({ watch }) => watch);
  const silentFor = (name: string): number => Math.max(0, ...watchesOf(name).map((watch) => watch.silentMs()));

  /** Readiness wants the first list, the metric shows the silence since. */
  function begin(name: string): Map<Scope, Running> {
    const group = new Map<Scope, Running>();
    groups.set(name, group);
    const silentMs = (): number => silentFor(name);
    const detail = (): string =>
      Number.isFinite(silentMs()) ? `last heard ${Math.round(silentMs() / 1000)} s ago` : 'not listed yet';
    readiness.set(`watch-${name}`, () => ({
      ok: watchesOf(name).every((watch) => watch.synced()),
      detail: detail(),
      required: true,
    }));
    metrics.watchSilence(name, silentMs);
    metrics.watchUp(
      name,
      () =>
        group.size === 0 ||
        seesAll(
          watchesOf(name).map((watch) => watch.sight()),
          clock.now(),
        ),
    );
    return group;
  }

  async function run({ watch, stop }: Running, after: Promise<unknown> | undefined): Promise<void> {
    const ending = AbortSignal.any([signal, stop.signal]);
    await after;
    if (!ending.aborted) await watch.run(ending);
  }

  return {
    open(name, scope, watch, after) {
      const running = { watch, stop: new AbortController() };
      (groups.get(name) ?? begin(name)).set(scope, running);
      const loop = run(running, after).finally(() => loops.delete(loop));
      loops.add(loop);
    },
    close(name, scope) {
      groups.get(name)?.get(scope)?.stop.abort();
      groups.get(name)?.delete(scope);
    },
    scopesOf: (name) => [...(groups.get(name)?.keys() ?? [])],
    relist: (name) => watchesOf(name).forEach((watch) => watch.relist()),
    silentMs: silentFor,
    sights: () => [...groups.keys()].flatMap((name) => watchesOf(name).map((watch) => watch.sight())),
    async ended() {
      if (!signal.aborted) await once(signal, 'abort');
      await Promise.all(loops);
    },
  };
}
