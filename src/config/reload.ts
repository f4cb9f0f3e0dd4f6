import fs from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { hashOf } from '../lib/hash.ts';
import { MissingFile, readAgain } from './config-file.ts';

interface DirectoryWatch {
  close(): void;
}

/**
 * Reports that something in a directory changed. `onDeath` is called at most once, when no more reports will come.
 * Never throws.
 */
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
    queueMicrotask(die); // it does not exist, or there are too many watches
    return { close: () => void (isOver = true) };
  }
};

/** The content of the file now, as a hash: of its text, or of why it cannot be read. */
interface Reading {
  hash: string;
  /** It does not exist, as in the middle of a swap. */
  isMissing: boolean;
}

/** The content that was judged last, whatever the verdict, and since when there is a different one. */
export interface Standing {
  judged: string;
  other?: { hash: string; sinceMs: number };
}

export type Weighed = { standing: Standing } & (
  | { do: 'nothing' }
  | { do: 'lookAgain'; inMs: number }
  /** The content stays the same, so it is judged now. */
  | { do: 'judge' }
);

/**
 * A program that writes without a swap writes piece by piece: half a file may be wrong, or valid but not what is meant.
 */
const settleMs = 500;
/** The kubelet removes the link a moment before it creates the next one. */
const missingMs = 8_000;

/** Pure. Content is judged only after it stayed the same for a while, and only once until other content was judged. */
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
  /** The file has other content, and it stays. Accepts it, or refuses it by a throw. */
  onText(text: string): Promise<void>;
  /** The content cannot be read as text (then `onText` was not called), or `onText` refused it. */
  onRefused(error: unknown): void;
  /** The file has the text in force again. */
  onAsBefore(): void;
  read?(file: string): Promise<string>;
  watch?: WatchDirectory;
}

interface Reloader {
  /** Looks now, because somebody asked for it. */
  poke(): void;
  run(signal: AbortSignal): Promise<void>;
}

/** Changes that the watch misses are found by reading the file itself, through all links. */
const pollMs = 3_000;
/** A burst of events leads to one look. */
const shortestRestMs = 20;
/** A directory that cannot be watched is not retried without a pause. */
const watchEveryMs = 1_000;

type Read = Reading & ({ text: string } | { error: unknown });

/**
 * Follows a file as Kubernetes changes it: the kubelet swaps a link beside the file, so neither the link's own state
 * nor a watch on the file shows the change. So the directory is watched, and the content is also read again and again.
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

  /** A look always follows, because changes while nobody watched were not reported. */
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
    watchAgain(); // the old one may be on a directory that was replaced
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
