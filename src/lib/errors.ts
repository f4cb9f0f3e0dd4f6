/** Try the same thing again, not before `afterMs`. */
export class RetryLater extends Error {
  override readonly name: string = 'RetryLater';
  readonly afterMs: number;
  constructor(message: string, afterMs: number, cause?: unknown) {
    super(message, { cause });
    this.afterMs = afterMs;
  }
}

/** A mistake of the person who started tapfix: shown as one line, without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly exitCode: number;
  constructor(message: string, exitCode = 1, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** One line that says what went wrong, following the chain of causes as far as it adds something. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  const own = error.message || (error as { code?: string }).code || error.name;
  const cause = error.cause instanceof Error ? messageOf(error.cause) : '';
  return oneLine(cause && !own.includes(cause) ? `${own}: ${cause}` : own);
}

export function unreachable(value: never): never {
  throw new Error(`unhandled ${JSON.stringify(value)}`);
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 500);
