import type { Clock } from '../lib/clock.ts';

export interface Armed {
  by: string;
  name: string;
  untilMs: number;
}

/** Who was asked "really?" about what. In memory only: after a restart the question is simply asked again. */
export interface Confirms {
  arm(uid: string, by: string, name: string, untilMs: number): void;
  disarm(uid: string): void;
  armedFor(uid: string, nowMs: number): Armed | undefined;
  /** Told when a question is asked, answered or has run out. */
  onChange(listener: (uid: string) => void): void;
}

export function createConfirms({ clock, signal }: { clock: Clock; signal: AbortSignal }): Confirms {
  const armed = new Map<string, Armed>();
  const listeners: ((uid: string) => void)[] = [];
  const changed = (uid: string): void => listeners.forEach((listener) => listener(uid));

  async function runOut(uid: string, question: Armed): Promise<void> {
    await clock.sleep(question.untilMs - clock.now(), signal);
    if (armed.get(uid) !== question || signal.aborted) return;
    armed.delete(uid);
    changed(uid);
  }
  return {
    arm(uid, by, name, untilMs) {
      const question = { by, name, untilMs };
      armed.set(uid, question);
      void runOut(uid, question);
      changed(uid);
    },
    disarm(uid) {
      if (armed.delete(uid)) changed(uid);
    },
    armedFor(uid, nowMs) {
      const question = armed.get(uid);
      return question && question.untilMs > nowMs ? question : undefined;
    },
    onChange: (listener) => void listeners.push(listener),
  };
}
