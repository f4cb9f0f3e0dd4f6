import { deleteResourceQuota } from '../actions/delete-resource-quota.ts';
import { lastWriterOf } from '../diagnosis/writers.ts';
import { isWaiting, readBlocked, readQuota, type QuotaObject } from '../diagnosis/quota.ts';
import { excessIn } from '../health/blocked.ts';
import type { BlockedOwner } from '../health/quota.ts';
import { iso } from '../lib/clock.ts';
import { counted } from '../lib/counted.ts';
import { RetryLater } from '../lib/errors.ts';
import { timeMs } from '../kube/views.ts';
import type { DeriveDeps, Subject } from './derive.ts';
import type { Case, Fix } from './proposal.ts';

/** "requests.memory 50Mi, already used 48Mi, a pod asks 64Mi": the limits that were in the way, else all there are. */
export function limitsInWords({ spec, status }: QuotaObject, blocked: readonly BlockedOwner[]): string {
  const asked = new Map<string, Set<string>>();
  for (const { resource, asked: amount } of blocked.flatMap(({ refusal }) => excessIn(refusal)))
    asked.set(resource, (asked.get(resource) ?? new Set()).add(amount));
  const hard = Object.entries(spec?.hard ?? {});
  const inTheWay = hard.filter(([what]) => asked.has(what));
  const words = (inTheWay.length > 0 ? inTheWay : hard).map(([what, limit]) => {
    const ask = asked.has(what) ? `, ${asking([...asked.get(what)!])}` : '';
    return `${what} ${limit}, already used ${status?.used?.[what] ?? '0'}${ask}`;
  });
  return words.join('; ') || 'the quota has no limits of its own';
}

function asking(amounts: readonly string[]): string {
  if (amounts.length === 1) return `a pod asks ${amounts[0]}`;
  return `pods ask ${amounts.slice(0, 3).join(', ')}${amounts.length > 3 ? ' and others' : ''}`;
}

/** The API server's books have whole seconds. */
const sameMomentMs = 1_000;

/** Newest first: who changed its limits last, if that was later, and its creation. */
export function changesOf(quota: QuotaObject): string[] {
  const createdAtMs = timeMs(quota.metadata.creationTimestamp);
  const writer = lastWriterOf(quota, ['spec']);
  const isLater = writer !== undefined && writer.atMs > createdAtMs + sameMomentMs;
  const by = writer && !isLater ? ` by ${writer.by}` : '';
  const changed = isLater ? [`${iso(writer.atMs)} ResourceQuota changed by ${writer.by}`] : [];
  return [...changed, `${iso(createdAtMs)} ResourceQuota created${by}`];
}

const impact = ({ workload, ready, desired }: BlockedOwner): string =>
  `${workload.replace(/^Deployment\//, '')} ${ready}/${desired}`;

/** As it was when it was noticed: the card's first line has it as it is. */
function impactInWords(impacts: readonly string[]): string[] {
  const others = impacts.length > 10 ? ` and ${impacts.length - 10} others` : '';
  return impacts.length > 0 ? [`ready when noticed: ${impacts.slice(0, 10).join(', ')}${others}`] : [];
}

export async function quotaCase(subject: Subject, { reader }: DeriveDeps): Promise<Case | undefined> {
  const quota = await readQuota(reader, subject.namespace, subject.object);
  if (!quota) return undefined;
  const owners = await readBlocked(reader, subject.namespace, quota);
  const blocked = owners.filter(isWaiting);
  const workloads = [...new Map(blocked.map((owner) => [owner.workload, impact(owner)])).values()];
  return {
    diagnosis: limitsInWords(quota, blocked),
    changed: changesOf(quota),
    evidence: impactInWords(workloads),
    fix:
      owners.length === 0
        ? { refused: 'the quota refuses nobody at the moment' }
        : fixOf(quota, blocked, workloads.length),
  };
}

/** Deleting a quota that is in nobody's way helps nobody. */
function fixOf(quota: QuotaObject, blocked: readonly BlockedOwner[], workloads: number): Fix {
  const { name, uid } = quota.metadata;
  // Its use changes by the second: no verdict for ever is made of one look.
  if (blocked.every(({ fits }) => fits)) throw new RetryLater('the quota has room at the moment', 1_000);
  return {
    action: deleteResourceQuota as never,
    params: { name, uid },
    why: `The namespace has no such limit afterwards; ${counted(workloads, 'workload')} can start pods again.`,
  };
}
