import type { Readable } from 'node:stream';

export interface KeyboardInput extends Readable {
  isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
}

export interface KeyboardDeps {
  input: KeyboardInput;
  onKey(key: string): void;
  /** Nothing more can be pressed. */
  onEnd(): void;
  /** Ctrl-C, which a terminal in raw mode hands over as a key. */
  onInterrupt(): void;
}

const interrupt = '\u0003';
const endOfInput = '\u0004';

/** Single keys, without Enter where there is a terminal. Returns how to give it back. */
export function listen({ input, onKey, onEnd, onInterrupt }: KeyboardDeps): () => void {
  const onData = (chunk: Buffer | string): void => {
    for (const key of chunk.toString()) {
      if (key === interrupt) onInterrupt();
      else if (key === endOfInput) onEnd();
      else if (key.trim() !== '') onKey(key.toLowerCase());
    }
  };
  input.setRawMode?.(true);
  input.on('data', onData).on('end', onEnd);
  return () => {
    input.off('data', onData).off('end', onEnd);
    input.setRawMode?.(false);
    input.pause();
  };
}
