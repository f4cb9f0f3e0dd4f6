import { deleteResourceQuota } from '../../actions/delete-resource-quota.ts';
import { lastWriterOf } from '../../diagnosis/changed.ts';
import { isProven, isWaiting, type QuotaObject, readBlocked, readQuota } from '../../diagnosis/quota.ts';
import { createOnce } from '../../diagnosis/readers.ts';
import type { Shortfall } from '../../health/quota-room.ts';
import type { BlockedOwner } from '../../health/refusals.ts';
import type { Reader } from '../../kube/api.ts';
import { timeMs } from '../../kube/raw.ts';
import { readyWhenNoticed } from '../../kube/remediation.ts';
import { iso } from '../../lib/clock.ts';
import { RetryLater } from '../../lib/errors.ts';
import { quantity } from '../../lib/quantity.ts';
import { counted } from '../../lib/text.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import type { Case, Fix } from '../scene.ts';

/**
 * "requests.memory 50Mi, used 48Mi, a pod asks 64Mi": the limits that are in the way, else all limits. All of it
 * is computed; nothing is quoted from an Event.
 */
export function limitsInWords({ spec, status }: QuotaObject, blocked: readonly BlockedOwner[]): string {
  const inTheWay = Map.groupBy(
    blocked.flatMap(({ shortfalls }) => shortfalls),
    ({ resource }) => resource,
  );
  const hard = Object.entries(status?.hard ?? spec?.hard ?? {});
  const shown = hard.filter(([what]) => inTheWay.has(what));
  const words = (shown.length > 0 ? shown : hard).map(
    ([what, limit]) => `${what} ${limit}, used ${status?.used?.[what] ?? '0'}${asking(inTheWay.get(what) ?? [])}`,
  );
  return words.join('; ') || 'the quota has no limits of its own';
}

function asking(shortfalls: readonly Shortfall[]): string {
  const amounts = [...new Set(shortfalls.flatMap(({ asked }) => asked ?? []))];
  const silent = shortfalls.some(({ asked }) => asked === undefined) ? ', and pods must state how much they ask' : '';
  if (amounts.length === 0) return silent;
  if (amounts.length === 1) return `, a pod asks ${amounts[0]}${silent}`;
  const sorted = amounts.toSorted((a, b) => (quantity(a) ?? 0) - (quantity(b) ?? 0));
  return `, pods ask ${sorted[0]} to ${sorted.at(-1)}${silent}`;
}

/** managedFields have whole seconds. */
const sameMomentMs = 1_000;

/** Newest first: who changed its limits last, if that was later than its creation, and its creation. */
function changesOf(quota: QuotaObject): string[] {
  const createdAtMs = timeMs(quota.metadata.creationTimestamp);
  const writer = lastWriterOf(quota, ['spec']);
  const isLater = writer !== undefined && writer.atMs > createdAtMs + sameMomentMs;
  const by = isLater ? '' : writer ? ` by ${writer.by}` : ' (writer not recorded)';
  const changed = isLater ? [`${iso(writer.atMs)} ResourceQuota changed by ${writer.by}`] : [];
  return [...changed, `${iso(createdAtMs)} ResourceQuota created${by}`];
}

const impact = ({ workload, ready, desired }: BlockedOwner): string =>
  `${workload.replace(/^Deployment\//, '')} ${ready}/${desired}`;

/** The state when it was noticed; the first line of the card has the current state. */
function impactInWords(impacts: readonly string[]): string[] {
  const others = impacts.length > 10 ? ` and ${impacts.length - 10} others` : '';
  return impacts.length > 0 ? [`${readyWhenNoticed}${impacts.slice(0, 10).join(', ')}${others}`] : [];
}

export async function quotaCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const reader = createOnce(deps.reader);
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
        : fixOf(
            quota,
            blocked,
            await readOthers(reader, subject.namespace, quota, blocked),
            subject.isLastTry ?? false,
          ),
  };
}

interface Others {
  quotas: string[];
  workloads: Set<string>;
}

/** Other quotas that also refuse some of them: each refused try names only one quota. */
async function readOthers(reader: Reader, namespace: string, quota: QuotaObject, blocked: readonly BlockedOwner[]) {
  const all = await reader.list<QuotaObject>('ResourceQuota', namespace);
  const uids = new Set(blocked.map(({ uid }) => uid));
  const others: Others = { quotas: [], workloads: new Set() };
  for (const other of all.filter(({ metadata }) => metadata.uid !== quota.metadata.uid)) {
    const found = await readBlocked(reader, namespace, other);
    const both = found.filter((owner) => isProven(owner) && uids.has(owner.uid));
    if (both.length > 0) others.quotas.push(other.metadata.name);
    for (const { workload } of both) others.workloads.add(workload);
  }
  return others;
}

function whatItBrings(blocked: readonly BlockedOwner[], { quotas, workloads }: Others): string {
  const [all, still] = [new Set(blocked.map(({ workload }) => workload)).size, workloads.size];
  const names = `${quotas.length === 1 ? 'ResourceQuota' : 'ResourceQuotas'} ${quotas.join(', ')}`;
  const refuse = quotas.length === 1 ? 'refuses' : 'refuse';
  if (still === 0) return `${counted(all, 'workload')} can start pods again.`;
  if (still === all) return `${names} ${refuse} the same pods, which start when that is out of the way as well.`;
  return `${counted(all - still, 'workload')} can start pods again, ${still} ${still === 1 ? 'is' : 'are'} refused by ${names} as well.`;
}

/** Deleting a quota helps only those whose next pod provably does not fit it. */
function fixOf(quota: QuotaObject, blocked: readonly BlockedOwner[], others: Others, isLastTry: boolean): Fix {
  const { name, uid } = quota.metadata;
  if (!blocked.some(isProven)) {
    const unknown = blocked.find((owner) => owner.unknown)?.unknown;
    if (unknown) return { refused: `what its pods ask is not known: ${unknown}` };
    // Its usage changes every second, so one reading gives no final verdict.
    if (!isLastTry) throw new RetryLater('the quota has room at the moment', 1_000);
    return {
      refused: 'by its template the next pod fits: something adds to it (a sidecar?), or it was not tried again',
    };
  }
  return {
    action: deleteResourceQuota as never,
    params: { name, uid },
    why: `The namespace has no such limit afterwards; ${whatItBrings(
      blocked.filter(({ unknown }) => unknown === undefined),
      others,
    )}`,
  };
}
