import { z } from 'zod';
import type { Clock } from '../lib/clock.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { globMatches } from '../lib/glob.ts';
import { sameValue } from '../lib/hash.ts';
import type { Log } from '../lib/log.ts';
import { type Api, isConflict, type KubeObject } from './api.ts';
import { levelOf } from './outage.ts';

/** The ConfigMap that holds the mutes, in tapfix's own namespace. Beside it the watcher writes only its own history (history-maps.ts). */
export const mutesName = 'tapfix-mutes';
export const mutesKey = 'mutes';

const muteSchema = z.object({
  /** Matches a namespace, or with a slash in it a namespace and a name: "shop-*", "shop/checkout*". */
  glob: z.string().min(1).max(253),
  until: z.iso.datetime(),
  by: z.string().max(256).optional(),
});
export type Mute = z.infer<typeof muteSchema>;

/** More than anybody would look through. Above it, the mute that ends first is removed. */
const mostMutes = 100;

export const isMuted = (globs: readonly string[], { namespace, name }: { namespace: string; name: string }): boolean =>
  globs.some((glob) => globMatches(glob, glob.includes('/') ? `${namespace}/${name}` : namespace));

/** The mutes that are not over. An invalid entry was written by hand, and mutes nothing. */
export function mutesIn(text: string | undefined, nowMs: number): Mute[] {
  try {
    const all = z.array(z.unknown()).parse(JSON.parse(text ?? '[]'));
    const mutes = all.flatMap((one) => muteSchema.safeParse(one).data ?? []);
    return mutes.filter(({ until }) => Date.parse(until) > nowMs);
  } catch {
    return [];
  }
}

/** Adds a mute and replaces an earlier one with the same glob. A mute that has already ended only removes that one. */
export function withMute(mutes: readonly Mute[], mute: Mute, nowMs: number): Mute[] {
  const others = mutes.filter(({ glob }) => glob !== mute.glob);
  const all = Date.parse(mute.until) > nowMs ? [...others, mute] : others;
  return all.sort((a, b) => Date.parse(a.until) - Date.parse(b.until)).slice(-mostMutes);
}

interface Mutes {
  /** The mutes in force now. */
  active(): Mute[];
  /**
   * Reads the mutes again, because somebody may have changed them with kubectl. If that fails, the known ones stay in
   * force.
   */
  load(): Promise<void>;
  set(mute: Mute): Promise<void>;
  /** The listener is called whenever the mutes have changed. */
  subscribe(listener: () => void): void;
}

interface MutesDeps {
  api: Pick<Api, 'get' | 'patch'>;
  clock: Clock;
  log: Log;
  namespace: string;
}

type ConfigMap = KubeObject & { data?: Record<string, string> };
const mostTries = 3;

export function createMutes({ api, clock, log, namespace }: MutesDeps): Mutes {
  const ref = { kind: 'ConfigMap', namespace, name: mutesName } as const;
  let known: Mute[] = [];
  const listeners: (() => void)[] = [];
  let isSaid = false;

  async function read(): Promise<{ mutes: Mute[]; resourceVersion: string } | undefined> {
    const map = await api.get<ConfigMap>(ref);
    return map && { mutes: mutesIn(map.data?.[mutesKey], clock.now()), resourceVersion: map.metadata.resourceVersion };
  }

  function learn(mutes: Mute[]): void {
    const isNew = !sameValue(mutes, known);
    known = mutes;
    if (isNew) for (const listener of listeners) listener();
  }

  return {
    subscribe: (listener) => void listeners.push(listener),
    active: () => known.filter(({ until }) => Date.parse(until) > clock.now()),
    async load() {
      try {
        learn((await read())?.mutes ?? []);
        isSaid = false;
      } catch (error) {
        if (isSaid || levelOf(error) === 'debug') return;
        log.warn({ reason: messageOf(error) }, 'mutes not read');
        isSaid = true;
      }
    },
    async set(mute) {
      for (let tried = 1; ; tried++) {
        const now = await read();
        if (!now) throw new UserError(`there is no ConfigMap ${mutesName} in ${namespace}: apply the manifests again`);
        const mutes = withMute(now.mutes, mute, clock.now());
        const body = {
          metadata: { resourceVersion: now.resourceVersion },
          data: { [mutesKey]: JSON.stringify(mutes) },
        };
        try {
          await api.patch<ConfigMap>(ref, 'merge', body);
          return learn(mutes);
        } catch (error) {
          if (!isConflict(error) || tried === mostTries) throw error;
        }
      }
    },
  };
}
