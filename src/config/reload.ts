import fs from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { hashOf } from '../lib/hash.ts';
import { MissingFile, readAgain } from './config-file.ts';

interface DirectoryWatch {
  close(): void;
}

/** Tells that something in a directory changed; `onDeath` at most once, when it will not tell any more. Never throws. */
export type WatchDirectory = (directory: string, onChange: () => void, onDeath: () => void) => DirectoryWatch;

export const watchDirectory: WatchDirectory = (directory, onChange, onDeath) => {
  let isOver = false;
  const die = (): void => {
    if (isOver) return;
    isOver = true;
    onDeath();
  };
  try {
    const watcher = fs.watch(directory, { persistent: false }, onChange);
    watcher.on('error', () => watcher.close());
    watcher.on('close', die);
    return {
      close() {
        isOver = true;
        watcher.close();
      },
    };
  } catch {
    queueMicrotask(die); // it is not there, or there are too many watches
    return { close: () => void (isOver = true) };
  }
};

/** What stands in the file at this moment, as a hash: of its text, or of why it cannot be read. */
interface Reading {
  hash: string;
  /** It is not there, as in the middle of a swap. */
  isMissing: boolean;
}

/** What was judged last, whatever the verdict, and since when something else is there. */
export interface Standing {
  judged: string;
  other?: { hash: string; sinceMs: number };
}

export type Weighed = { standing: Standing } & (
  | { do: 'nothing' }
  | { do: 'lookAgain'; inMs: number }
  /** It stays: it is to be judged now. */
  | { do: 'judge' }
);

/** Whoever writes without a swap writes piece by piece: half a file may be wrong, or valid and not what is meant. */
const settleMs = 500;
/** The kubelet removes the link a moment before it makes the next one. */
const missingMs = 8_000;

/** Pure. Only what stays as it is for a while is judged, and each only once until something else was judged. */
export function weigh({ judged, other }: Standing, { hash, isMissing }: Reading, nowMs: number): Weighed {
  if (hash === judged) return { standing: { judged }, do: 'nothing' };
  const sinceMs = other?.hash === hash ? other.sinceMs : nowMs;
  const leftMs = sinceMs + (isMissing ? missingMs : settleMs) - nowMs;
  if (leftMs > 0) return { standing: { judged, other: { hash, sinceMs } }, do: 'lookAgain', inMs: leftMs };
  return { standing: { judged: hash }, do: 'judge' };
}

interface ReloadDeps {
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

interface Reloader {
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
