import { parseAction, specOf } from '../actions/table.ts';
import type { Config } from '../config/schema.ts';
import type { History } from '../health/history.ts';
import type { Reader } from '../kube/api.ts';
import { type ActionSpec, undoIntro } from '../kube/remediation.ts';
import { crashLoopCase } from './crash-loop.ts';
import { quotaCase } from './quota-exceeded.ts';
import type { Case } from './proposal.ts';

export interface Subject {
  namespace: string;
  class: string;
  object: { kind: string; name: string; uid: string };
}

/** What tapfix would say and do about a subject, from one reading of the live cluster. */
export interface Derived {
  diagnosis: string;
  changed: string[];
  evidence: string[];
  rationale: string;
  /** Absent: nothing safe to propose, `rationale` says why. */
  action?: ActionSpec;
}

export interface DeriveDeps {
  reader: Reader;
  history: History;
  config: Config;
  nowMs: number;
}

/** One row per failure class: how its case is read and which fix it may take. */
const cases: Readonly<Record<string, (subject: Subject, deps: DeriveDeps) => Promise<Case | undefined>>> = {
  QuotaExceeded: quotaCase,
  CrashLoop: crashLoopCase,
};

/**
 * The same code proposes for the watcher and confirms for the controller, each from its own reading.
 * undefined: the subject is gone.
 */
export async function derive(subject: Subject, deps: DeriveDeps): Promise<Derived | undefined> {
  const read = cases[subject.class];
  if (!read) return undefined;
  const found = await read(subject, deps);
  if (!found) return undefined;
  const { fix, ...said } = found;
  if ('refused' in fix) return { ...said, rationale: `${fix.refused}` };
  if (!deps.config.actions.allow.includes(fix.action.type))
    return { ...said, rationale: `${fix.action.type} is not in actions.allow` };
  const { action, params } = parseAction(specOf(fix.action, fix.params));
  const prepared = await action.prepare(params, { namespace: subject.namespace, fixUid: '', reader: deps.reader });
  if (!prepared.ok) return { ...said, rationale: `${prepared.say}` };
  return {
    ...said,
    action: specOf(fix.action, fix.params),
    rationale: withUndo(fix.why, prepared.undo),
  };
}

const longestRationale = 2048;

/** Half a command is worse than none: one that does not fit is kept with the execution, which has more room. */
export function withUndo(why: string, undo: string): string {
  const whole = `${why} ${undoIntro}\n${undo}`;
  return whole.length <= longestRationale
    ? whole
    : `${why} How to put it back will be in status.execution.undo of this Remediation.`;
}
