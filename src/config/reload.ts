import { dirname } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { hashOf } from '../lib/hash.ts';
import { MissingFile, readAgain } from './read-text.ts';
import { watchDirectory, type DirectoryWatch, type WatchDirectory } from './watch-directory.ts';
import { weigh, type Reading, type Standing } from './weigh.ts';

export interface ReloadDeps {
  file: string;
  /** The text in force. */
  text: string;
  clock: Clock;
  /** Something else stands in the file, and stays: taken, or refused by a throw. */
  onText(text: string): Promise<void>;
  /** It is not a text that could be judged, or it was refused. `onText` was not, or in vain. */
  onRefused(error: unknown): void;
  /** The text in force stands there again. */
  onAsBefore(): void;
  read?(file: string): Promise<string>;
  watch?: WatchDirectory;
}

export interface Reloader {
  /** Looks now: somebody asked for it. */
  poke(): void;
  run(signal: AbortSignal): Promise<void>;
}

/** Whatever the watch misses is found by reading the file itself, through all links. */
const pollMs = 3_000;
/** A burst of events is one look. */
const shortestRestMs = 20;
/** A directory that cannot be watched is not tried without a pause. */
const watchEveryMs = 1_000;

type Read = Reading & ({ text: string } | { error: unknown });

/**
 * Follows a file as Kubernetes changes it: the kubelet swaps a link beside it, so neither the link's own state nor one
 * watch on the file tells. The directory is watched, and the content is read again and again as well.
 */
export function createReloader({
  file,
  clock,
  read = readAgain,
  watch = watchDirectory,
  ...deps
}: ReloadDeps): Reloader {
  let inForce = hashOf(deps.text);
  let standing: Standing = { judged: inForce };
  let wake = new AbortController();
  let watcher: DirectoryWatch | undefined;
  let watchedAtMs = Number.NEGATIVE_INFINITY;

  const poke = (): void => wake.abort();

  /** Always followed by a look: what happened while nobody watched was not told. */
  function watchAgain(): void {
    watcher?.close();
    watchedAtMs = clock.now();
    watcher = watch(dirname(file), poke, () => {
      watcher = undefined;
      poke();
    });
  }

  async function readNow(): Promise<Read> {
    try {
      const text = await read(file);
      return { hash: hashOf(text), isMissing: false, text };
    } catch (error) {
      return { hash: hashOf(['unreadable', messageOf(error)]), isMissing: error instanceof MissingFile, error };
    }
  }

  async function judge(found: Read): Promise<void> {
    if (found.hash === inForce) return deps.onAsBefore();
    try {
      if ('error' in found) throw found.error;
      await deps.onText(found.text);
      inForce = found.hash;
    } catch (error) {
      deps.onRefused(error);
    }
  }

  /** Returns how long to rest. */
  async function look(): Promise<number> {
    const found = await readNow();
    const weighed = weigh(standing, found, clock.now());
    ({ standing } = weighed);
    if (weighed.do === 'lookAgain') return Math.min(weighed.inMs, pollMs);
    if (weighed.do === 'nothing') return pollMs;
    await judge(found);
    watchAgain(); // the old one may hang on a directory that was replaced
    return 0;
  }

  return {
    poke,
    async run(signal) {
      while (!signal.aborted) {
        wake = new AbortController();
        if (!watcher && clock.now() - watchedAtMs >= watchEveryMs) watchAgain();
        const restMs = await look();
        await clock.sleep(restMs, AbortSignal.any([signal, wake.signal]));
        if (wake.signal.aborted) await clock.sleep(shortestRestMs, signal);
      }
      watcher?.close();
    },
  };
}
