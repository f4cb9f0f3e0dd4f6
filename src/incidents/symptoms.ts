import type { Remediation } from '../kube/remediation.ts';
import type { Incident, SeenClass } from './incident.ts';

/** What a workload looks like that a shared cause keeps from its pods: no news of its own. */
const symptomClasses: ReadonlySet<string> = new Set(['RolloutStuck', 'Evicted', 'ProbeFailing']);

/** Pure. Whether this Remediation is of a shared cause that touches the workload: only those say whom they affect. */
export function isAffectedBy(fix: Remediation, namespace: string, object: { kind: string; name: string }): boolean {
  const own = `${object.kind}/${object.name}`;
  const affected = fix.status?.sightings?.affected ?? [];
  return affected.includes(`${namespace}/${own}`) || (fix.metadata.namespace === namespace && affected.includes(own));
}

/** Pure. The open shared cause that explains all of these classes; by default all that was seen of it. */
export function sharedCauseOf(
  incident: Incident,
  open: readonly Remediation[],
  seen: readonly SeenClass[] = incident.seen,
): Remediation | undefined {
  if (seen.length === 0 || !seen.every((one) => symptomClasses.has(one.class))) return undefined;
  return open.find((fix) => isAffectedBy(fix, incident.namespace, incident.object));
}
