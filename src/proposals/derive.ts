import { isProtected, protectedLabel, readNamespaceLabels } from '../actions/ownership.ts';
import { parseAction, specOf } from '../actions/table.ts';
import type { Config } from '../config/schema.ts';
import { createOnce } from '../diagnosis/readers.ts';
import type { History } from '../health/history.ts';
import { ifForbidden, type KubeObject, type LogReader, type Reader } from '../kube/api.ts';
import { type ActionSpec, nothingToUndo, runbookAnnotation, runbookLine, undoIntro } from '../kube/remediation.ts';
import { isKnownKind } from '../kube/resources.ts';
import { redact } from '../lib/redact.ts';
import { line } from '../lib/text.ts';
import { autoscalerBlindCase } from './cases/autoscaler-blind.ts';
import { configMissingCase } from './cases/config-missing.ts';
import { crashLoopCase } from './cases/crash-loop.ts';
import { createRejectedCase } from './cases/create-rejected.ts';
import { imagePullCase } from './cases/image-pull.ts';
import { jobFailedCase } from './cases/job-failed.ts';
import { nodeDownCase } from './cases/node-down.ts';
import { oomKilledCase } from './cases/oom-killed.ts';
import { probeFailingCase } from './cases/probe-failing.ts';
import { quotaCase } from './cases/quota-exceeded.ts';
import { rolloutStuckCase } from './cases/rollout-stuck.ts';
import { storageFailedCase } from './cases/storage-failed.ts';
import { unschedulableCase } from './cases/unschedulable.ts';
import { evictedCase, sandboxFailedCase, volumeStuckCase } from './cases/waiting-pods.ts';
import { type Case, type Fix, reasonsInWords } from './scene.ts';

export interface Subject {
  namespace: string;
  class: string;
  object: { kind: string; name: string; uid: string };
  /** A state that may hold for a moment only was waited for long enough: it counts as it is now. */
  isLastTry?: boolean;
}

/** The diagnosis and the fix for a subject, from one reading of the live cluster. */
export interface Derived {
  diagnosis: string;
  changed: string[];
  evidence: string[];
  rationale: string;
  /** Absent if there is nothing safe to propose; then `rationale` says why. */
  action?: ActionSpec;
}

export interface DeriveDeps {
  reader: Reader;
  history: History;
  config: Config;
  nowMs: number;
  /** Only the watcher has it: no action depends on a log. */
  logs?: LogReader;
}

/** One row per failure class: how its case is read and which fix it may take. */
export const cases: Readonly<Record<string, (subject: Subject, deps: DeriveDeps) => Promise<Case | undefined>>> = {
  QuotaExceeded: quotaCase,
  CreateRejected: createRejectedCase,
  ImagePull: imagePullCase,
  ConfigMissing: configMissingCase,
  OOMKilled: oomKilledCase,
  CrashLoop: crashLoopCase,
  ProbeFailing: probeFailingCase,
  RolloutStuck: rolloutStuckCase,
  Unschedulable: unschedulableCase,
  SandboxFailed: sandboxFailedCase,
  VolumeStuck: volumeStuckCase,
  StorageFailed: storageFailedCase,
  Evicted: evictedCase,
  JobFailed: jobFailedCase,
  NodeDown: nodeDownCase,
  AutoscalerBlind: autoscalerBlindCase,
};

/**
 * The same code proposes for the watcher and confirms for the controller, each from its own reading. undefined if the
 * subject is gone.
 */
export async function derive(subject: Subject, given: DeriveDeps): Promise<Derived | undefined> {
  const deps = { ...given, reader: createOnce(given.reader) };
  const read = Object.hasOwn(cases, subject.class) ? cases[subject.class] : undefined;
  const [found, runbook] = await Promise.all([read?.(subject, deps), readRunbook(subject, deps.reader)]);
  if (!found) return undefined;
  const { fix, orElse = [], ...said } = redacted({ ...found, evidence: [...runbook, ...found.evidence] });
  const refusals: string[] = [];
  for (const candidate of [fix, ...orElse]) {
    const offer = await attempt(candidate, subject, deps);
    if ('action' in offer) return { ...said, ...offer };
    refusals.push(offer.refused);
  }
  return { ...said, rationale: reasonsInWords(refusals) };
}

/** Whoever may edit the workload wrote it: it is shown, and nothing rests on it. */
async function readRunbook({ namespace, object: { kind, name } }: Subject, reader: Reader): Promise<string[]> {
  if (!isKnownKind(kind) || namespace === '') return [];
  const found = await reader.get<KubeObject>({ kind, namespace, name }).catch(ifForbidden(undefined));
  const text = line(found?.metadata.annotations?.[runbookAnnotation] ?? '', 300);
  return text ? [`${runbookLine}${text}`] : [];
}

/** Whether the fix is allowed, and would work. */
async function attempt(
  fix: Fix,
  { namespace }: Subject,
  { config, reader }: DeriveDeps,
): Promise<{ action: ActionSpec; rationale: string } | { refused: string }> {
  if ('refused' in fix) return fix;
  const { type } = fix.action;
  if (!config.actions.allow.includes(type)) return { refused: `${type} is not in actions.allow` };
  const spec = specOf(fix.action, fix.params);
  if (!fix.action.params.safeParse(fix.params).success) return { refused: `${type} does not take what is needed here` };
  const { action, params } = parseAction(spec);
  const [labels, prepared] = await Promise.all([
    readNamespaceLabels(reader, namespace),
    action.prepare(params, { namespace, fixUid: '', reader }),
  ]);
  if (isProtected({ labels })) return { refused: `Namespace ${namespace} is labelled ${protectedLabel}=true` };
  return prepared.ok ? { action: spec, rationale: withUndo(fix.why, prepared.undo) } : { refused: prepared.say };
}

const redactedFix = (fix: Fix): Fix => ('refused' in fix ? { refused: redact(fix.refused) } : fix);

/** Redacts all text from the cluster in one place. An undo command is not redacted, because it must stay as it is. */
const redacted = ({ diagnosis, changed, evidence, fix, orElse = [] }: Case): Case => ({
  diagnosis: redact(diagnosis),
  changed: changed.map(redact),
  evidence: evidence.map(redact),
  fix: redactedFix(fix),
  orElse: orElse.map(redactedFix),
});

const longestRationale = 2048;

/** Half a command is worse than none: one that does not fit is kept with the execution, which has more room. */
export function withUndo(why: string, undo: string): string {
  const nothing = nothingToUndo(undo);
  if (nothing) return `${why} ${nothing}`;
  const whole = `${why} ${undoIntro}\n${undo}`;
  return whole.length <= longestRationale
    ? whole
    : `${why} How to undo it will be in status.execution.undo of this Remediation.`;
}
