import type { Clock } from '../lib/clock.ts';
import type { Question, Questions } from '../notices/cards/card-context.ts';

/**
 * The open confirmations: who was asked "really?" about which fix. In memory only: after a restart the question is
 * asked again.
 */
export interface Confirms extends Questions {
  arm(uid: string, question: Question): void;
  /** With `only` given, a later question stays. */
  disarm(uid: string, only?: Question): void;
}

export function createConfirms({ clock, signal }: { clock: Clock; signal: AbortSignal }): Confirms {
  const armed = new Map<string, Question>();
  const listeners: ((uid: string) => void)[] = [];
  const changed = (uid: string): void => listeners.forEach((listener) => listener(uid));

  async function runOut(uid: string, question: Question): Promise<void> {
    await clock.sleep(question.untilMs - clock.now(), signal);
    if (armed.get(uid) !== question || signal.aborted) return;
    armed.delete(uid);
    changed(uid);
  }
  return {
    arm(uid, question) {
      armed.set(uid, question);
      void runOut(uid, question);
      changed(uid);
    },
    disarm(uid, only = armed.get(uid)) {
      if (armed.get(uid) === only && armed.delete(uid)) changed(uid);
    },
    armedFor(uid, nowMs) {
      const question = armed.get(uid);
      return question && question.untilMs > nowMs ? question : undefined;
    },
    onChange: (listener) => void listeners.push(listener),
  };
}
