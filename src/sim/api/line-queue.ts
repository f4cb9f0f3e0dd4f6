/** Lines that wait for their reader. */
export interface LineQueue<T> {
  push(line: T): void;
  /** What waits is still read; what comes after is not. */
  end(): void;
  /** To be read once. `onLeave` is called when the reader goes, or the end was read. */
  lines(onLeave: () => void): AsyncGenerator<T>;
}

export function createLineQueue<T>(): LineQueue<T> {
  const waiting: T[] = [];
  let isOver = false;
  let wake: (() => void) | undefined;
  const nudge = (): void => {
    wake?.();
    wake = undefined;
  };
  return {
    push(line) {
      if (!isOver) waiting.push(line);
      nudge();
    },
    end() {
      isOver = true;
      nudge();
    },
    async *lines(onLeave) {
      try {
        for (;;) {
          const line = waiting.shift();
          if (line !== undefined) yield line;
          else if (isOver) return;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        onLeave();
      }
    },
  };
}
