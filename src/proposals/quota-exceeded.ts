import { deleteResourceQuota } from '../actions/delete-resource-quota.ts';
import { lastManager } from '../diagnosis/changed.ts';
import { readBlocked, readQuota, type QuotaObject } from '../diagnosis/quota.ts';
import type { BlockedOwner } from '../health/quota.ts';
import { clockTime } from '../lib/time.ts';
import { timeMs } from '../kube/views.ts';
import type { DeriveDeps, Subject } from './derive.ts';
import type { Case } from './proposal.ts';

/** "requests.memory 50Mi, used 48Mi", each limit on one line. */
export function limitsInWords({ spec, status }: QuotaObject): string[] {
  return Object.entries(spec?.hard ?? {}).map(
    ([what, hard]) => `${what} ${hard}, already used ${status?.used?.[what] ?? '0'}`,
  );
}

const impact = ({ workload, ready, desired }: BlockedOwner): string => `${workload} ${ready}/${desired}`;

export async function quotaCase(
  subject: Subject,
  { reader, timeZone }: Required<DeriveDeps>,
): Promise<Case | undefined> {
  const quota = await readQuota(reader, subject.namespace, subject.object);
  if (!quota) return undefined;
  const { name, uid, creationTimestamp } = quota.metadata;
  const blocked = await readBlocked(reader, subject.namespace, name);
  const manager = lastManager(quota);
  const workloads = [...new Map(blocked.map((owner) => [owner.workload, impact(owner)])).values()];
  return {
    diagnosis: limitsInWords(quota).join('; ').slice(0, 512) || 'the quota has no limits of its own',
    changed: [
      `${clockTime(timeMs(creationTimestamp), timeZone)} ResourceQuota created${manager ? ` by ${manager}` : ''}`,
    ],
    evidence: workloads.slice(0, 10),
    fix: {
      action: deleteResourceQuota as never,
      params: { name, uid },
      why: `The namespace has no such limit afterwards; ${workloads.length} ${workloads.length === 1 ? 'workload' : 'workloads'} can start pods again.`,
    },
  };
}
