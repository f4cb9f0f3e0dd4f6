import { messageOf } from '../lib/errors.ts';

export interface Check {
  ok: boolean;
  detail: string;
  /** Whether tapfix is useless without it: unsynced watches yes, a chat outage no (it is only shown). */
  required: boolean;
}

export interface ReadinessReport {
  ok: boolean;
  checks: Record<string, Check>;
}

export interface Readiness {
  /** The check runs at each report. The same name again replaces the check; undefined removes it. */
  set(name: string, check: (() => Check) | undefined): void;
  report(): ReadinessReport;
}

export function createReadiness(): Readiness {
  const checks = new Map<string, () => Check>();
  return {
    set(name, check) {
      if (check) checks.set(name, check);
      else checks.delete(name);
    },
    report() {
      const results = [...checks].map(([name, check]) => [name, ask(check)] as const);
      return {
        ok: results.every(([, { ok, required }]) => ok || !required),
        checks: Object.fromEntries(results),
      };
    },
  };
}

function ask(check: () => Check): Check {
  try {
    return check();
  } catch (error) {
    return { ok: false, detail: `the check itself failed: ${messageOf(error)}`, required: true };
  }
}
