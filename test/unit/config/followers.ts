import fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readAgain } from '../../../src/config/config-file.ts';
import { createReloader } from '../../../src/config/reload.ts';
import type { Clock } from '../../../src/lib/clock.ts';

/* Ours, and three that run in production elsewhere and miss changes: all of them follow one file. */

export interface Following {
  file: string;
  clock: Clock;
  signal: AbortSignal;
  /** Rejects when it cannot be used. */
  onText(text: string): Promise<void>;
}
/** Returns how many reads are under way. */
export type Follower = (following: Following) => () => number;

export const ours: Follower = ({ file, clock, signal, onText }) => {
  let reading = 0;
  const read = async (path: string): Promise<string> => {
    reading += 1;
    return readAgain(path).finally(() => (reading -= 1));
  };
  const reloader = createReloader({
    file,
    text: fs.readFileSync(file, 'utf8'),
    clock,
    read,
    onText,
    onRefused: () => undefined,
    onAsBefore: () => undefined,
  });
  void reloader.run(signal);
  return () => reading;
};

/** Polls whether the file changed, and asks the link itself: that never changes. */
export const byLstat: Follower = ({ file, clock, signal, onText }) => {
  const stamp = (): string => {
    const { mtimeMs, ino, size } = fs.lstatSync(file);
    return [mtimeMs, ino, size].join();
  };
  let last = stamp();
  const poll = async (): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(1_000, signal);
      if (signal.aborted || stamp() === last) continue;
      last = stamp();
      await onText(fs.readFileSync(file, 'utf8'));
    }
  };
  void poll();
  return () => 0;
};

/** One watch on the file: it hangs on what the link led to at the start, and goes with it. */
export const byOneWatch: Follower = ({ file, signal, onText }) => {
  const watcher = fs.watch(file, { persistent: false, signal }, () => {
    if (fs.existsSync(file)) void onText(fs.readFileSync(file, 'utf8'));
  });
  watcher.on('error', () => undefined);
  return () => 0;
};

/** The directory, which is right; but a file that is missing for a moment ends it. */
export const byAWatchThatDies: Follower = ({ file, signal, onText }) => {
  const watcher = fs.watch(dirname(file), { persistent: false, signal }, () => {
    try {
      void onText(fs.readFileSync(file, 'utf8'));
    } catch {
      watcher.close();
    }
  });
  watcher.on('error', () => undefined);
  return () => 0;
};

/** A volume as the kubelet makes it: the file is a link into `..data`, which is a link to one version's directory. */
export function aVolume(folder: string, text: string) {
  let version = 0;
  const file = join(folder, 'config.yaml');
  const make = (content: string): string => {
    const name = `..2026_11_17_03_12_05.${++version}`;
    fs.mkdirSync(join(folder, name));
    fs.writeFileSync(join(folder, name, 'config.yaml'), content);
    return name;
  };
  const dropOthers = (kept: string): void => {
    for (const entry of fs.readdirSync(folder))
      if (entry.startsWith('..2026') && entry !== kept) fs.rmSync(join(folder, entry), { recursive: true });
  };
  fs.symlinkSync(make(text), join(folder, '..data'));
  fs.symlinkSync(join('..data', basename(file)), file);
  return {
    file,
    /** As the kubelet does it: the new link is renamed over the old one, then the old version goes. */
    rename(content: string): void {
      const name = make(content);
      fs.symlinkSync(name, join(folder, '..data_tmp'));
      fs.renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
      dropOthers(name);
    },
    /** As others do it: for a second there is no file. */
    async replace(content: string, aSecond: () => Promise<void>): Promise<void> {
      const name = make(content);
      fs.rmSync(join(folder, '..data'));
      dropOthers(name);
      await aSecond();
      fs.symlinkSync(name, join(folder, '..data'));
    },
  };
}
