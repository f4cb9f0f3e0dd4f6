import type { ActionRefusal } from '../actions/action.ts';
import { no } from '../actions/action.ts';
import type { ParsedAction } from '../actions/table.ts';
import type { Reader } from '../kube/api.ts';
import type { Remediation } from '../kube/remediation.ts';
import { phaseOf } from '../kube/remediation.ts';
import { parsedActionOf } from './context.ts';

/** Other Remediations that are being applied to the same target. */
export async function readRivals(reader: Reader, fix: Remediation, parsed: ParsedAction): Promise<Remediation[]> {
  const all = await reader.list<Remediation>('Remediation', fix.metadata.namespace);
  const mine = claimsOf(fix, parsed);
  return all.filter((other) => {
    if (other.metadata.uid === fix.metadata.uid || !isAtWork(other)) return false;
    const theirs = parsedActionOf(other);
    return !('ok' in theirs) && claimsOf(other, theirs).some((claim) => mine.includes(claim));
  });
}

const isAtWork = (fix: Remediation): boolean => phaseOf(fix) === 'Applying' || phaseOf(fix) === 'Applied';

/** The objects that it changes. For a pod, also its workload, which replaces its pods one after another. */
function claimsOf({ spec }: Remediation, { action, params }: ParsedAction): string[] {
  const target = action.target(params);
  const whole = target.kind === 'Pod' ? [spec.incident.object] : [];
  return [target, ...whole].map(({ kind, name }) => `${kind}/${name}`);
}

/**
 * Pure. Two processes may each have found the target free and announced their fix: one of the two must give way. A
 * process that announces its own fix before it looks cannot overlook the other. The greater uid gives way; the smaller
 * waits until that has happened, or until the other turns out to have acted before it could see anybody.
 */
export function whoGoesFirst(fix: Remediation, rivals: readonly Remediation[]): 'go' | 'wait' | ActionRefusal {
  const first = rivals.find((other) => phaseOf(other) === 'Applied' || other.metadata.uid < fix.metadata.uid);
  if (first) return no('Busy', `${first.metadata.name} is being applied to the same target; nothing was changed`);
  return rivals.length > 0 ? 'wait' : 'go';
}
