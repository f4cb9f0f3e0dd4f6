import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';

/** The result of the work; undefined when it threw. */
export type Guard = <T>(what: string, work: () => T) => { value: T } | undefined;

const mostComplaints = 50;

/** Runs other people's code: what it throws, or rejects with later, is logged once and ends nothing. */
export function createGuard(log: Log, about: object): Guard {
  const complaints = new Set<string>();

  function complain(what: string, error: unknown): void {
    const message = messageOf(error);
    const complaint = `${what}: ${message}`;
    if (complaints.has(complaint) || complaints.size >= mostComplaints) return;
    complaints.add(complaint);
    const stack = error instanceof Error ? error.stack : undefined;
    log.error({ ...about, what, error: message, stack }, 'watch handler threw');
  }

  return (what, work) => {
    try {
      const value = work();
      if (value instanceof Promise) value.catch((error: unknown) => complain(what, error));
      return { value };
    } catch (error) {
      complain(what, error);
      return undefined;
    }
  };
}
