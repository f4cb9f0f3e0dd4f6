import { deleteResourceQuota } from '../../actions/delete-resource-quota.ts';
import { lastWriterOf } from '../../diagnosis/changed.ts';
import { isWaiting, type QuotaObject, readBlocked, readQuota } from '../../diagnosis/quota.ts';
import { createOnce } from '../../diagnosis/readers.ts';
import { type BlockedOwner, excessIn } from '../../health/refusals.ts';
import type { Reader } from '../../kube/api.ts';
import { timeMs } from '../../kube/raw.ts';
import { iso } from '../../lib/clock.ts';
import { RetryLater } from '../../lib/errors.ts';
import { quantity } from '../../lib/quantity.ts';
import { counted } from '../../lib/text.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import type { Case, Fix } from '../scene.ts';

/** "requests.memory 50Mi, already used 48Mi, a pod asks 64Mi": the limits that were exceeded, else all limits. */
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
  const sorted = amounts.toSorted((a, b) => (quantity(a) ?? 0) - (quantity(b) ?? 0));
  return `pods ask ${sorted[0]} to ${sorted.at(-1)}`;
}

/** managedFields have whole seconds. */
const sameMomentMs = 1_000;

/** Newest first: who changed its limits last, if that was later than its creation, and its creation. */
function changesOf(quota: QuotaObject): string[] {
  const createdAtMs = timeMs(quota.metadata.creationTimestamp);
  const writer = lastWriterOf(quota, ['spec']);
  const isLater = writer !== undefined && writer.atMs > createdAtMs + sameMomentMs;
  const by = writer && !isLater ? ` by ${writer.by}` : '';
  const changed = isLater ? [`${iso(writer.atMs)} ResourceQuota changed by ${writer.by}`] : [];
  return [...changed, `${iso(createdAtMs)} ResourceQuota created${by}`];
}

const impact = ({ workload, ready, desired }: BlockedOwner): string =>
  `${workload.replace(/^Deployment\//, '')} ${ready}/${desired}`;

/** The state when it was noticed; the first line of the card has the current state. */
function impactInWords(impacts: readonly string[]): string[] {
  const others = impacts.length > 10 ? ` and ${impacts.length - 10} others` : '';
  return impacts.length > 0 ? [`ready when noticed: ${impacts.slice(0, 10).join(', ')}${others}`] : [];
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
        : fixOf(quota, blocked, await readOthers(reader, subject.namespace, quota, blocked)),
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
    const both = found.filter((owner) => isWaiting(owner) && !owner.fits && uids.has(owner.uid));
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

/** Deleting a quota that blocks nobody helps nobody. */
function fixOf(quota: QuotaObject, blocked: readonly BlockedOwner[], others: Others): Fix {
  const { name, uid } = quota.metadata;
  // Its usage changes every second, so one reading gives no final verdict.
  if (blocked.every(({ fits }) => fits)) throw new RetryLater('the quota has room at the moment', 1_000);
  return {
    action: deleteResourceQuota as never,
    params: { name, uid },
    why: `The namespace has no such limit afterwards; ${whatItBrings(blocked, others)}`,
  };
}
