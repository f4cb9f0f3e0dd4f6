import fs from 'node:fs';

export interface DirectoryWatch {
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
