import { type Api, isConflict, type KubeObject } from '../kube/api.ts';
import { type Mute, mutesIn, mutesKey, mutesName, withMute } from '../kube/mutes.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { sameValue } from '../lib/hash.ts';
import type { Log } from '../lib/log.ts';

export interface Mutes {
  /** What is muted now. */
  active(): Mute[];
  /** Reads them anew: somebody may have changed them with kubectl. Those that cannot be read mute nothing more than before. */
  load(): Promise<void>;
  set(mute: Mute): Promise<void>;
}

interface MutesDeps {
  api: Pick<Api, 'get' | 'patch'>;
  clock: Clock;
  log: Log;
  namespace: string;
  /** What was noticed and not told yet may be muted by now. */
  onChange?(): void;
}

type ConfigMap = KubeObject & { data?: Record<string, string> };
const mostTries = 3;

export function createMutes({ api, clock, log, namespace, onChange }: MutesDeps): Mutes {
  const ref = { kind: 'ConfigMap', namespace, name: mutesName } as const;
  let known: Mute[] = [];
  let isSaid = false;

  async function read(): Promise<{ mutes: Mute[]; resourceVersion: string } | undefined> {
    const map = await api.get<ConfigMap>(ref);
    return map && { mutes: mutesIn(map.data?.[mutesKey], clock.now()), resourceVersion: map.metadata.resourceVersion };
  }

  function learn(mutes: Mute[]): void {
    const isNew = !sameValue(mutes, known);
    known = mutes;
    if (isNew) onChange?.();
  }

  return {
    active: () => known.filter(({ until }) => Date.parse(until) > clock.now()),
    async load() {
      try {
        learn((await read())?.mutes ?? []);
        isSaid = false;
      } catch (error) {
        if (!isSaid) log.warn({ reason: messageOf(error) }, 'mutes not read');
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
