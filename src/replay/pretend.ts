import type { Config } from '../config/schema.ts';
import type { Incident, SeenClass } from '../incidents/incident.ts';
import { remediationName } from '../incidents/key.ts';
import type { Remediation } from '../kube/remediation.ts';
import { iso } from '../lib/clock.ts';
import { remediationSpec } from '../proposals/record.ts';

export interface PretendFacts {
  incident: Incident;
  as: SeenClass;
  /** What was told of the same key before. */
  earlier: readonly Remediation[];
  affected: ReadonlySet<string>;
  config: Config;
  nowMs: number;
}

/** Pure. The Remediation that would have been recorded, without what only a cluster could tell: causes, counts, a fix. */
export function aFixOf({ incident, as, earlier, affected, config, nowMs }: PretendFacts): Remediation {
  const { key, namespace, object, firstSeenMs, lastSeenMs, count } = incident;
  const { class: failureClass, severity, reason, message } = as;
  const spec = remediationSpec({
    incident: { key, object, firstSeenMs, class: failureClass, severity, reason, message },
    derived: { diagnosis: message, changed: [], evidence: [], rationale: 'there is no cluster to read' },
    earlier,
    notifyOnly: true,
    proposedBy: 'tapfix replay',
    config,
    nowMs,
  });
  const n = earlier.length + 1;
  return {
    metadata: {
      name: remediationName(key, n),
      namespace,
      uid: `${key} ${n}`,
      resourceVersion: '1',
      creationTimestamp: iso(nowMs),
    },
    spec,
    status: { sightings: { count, lastSeen: iso(lastSeenMs), ...(affected.size > 0 && { affected: [...affected].slice(0, 50) }) } }, // prettier-ignore
  };
}
