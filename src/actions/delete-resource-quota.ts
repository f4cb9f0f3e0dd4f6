import { z } from 'zod';
import { isProven, isWaiting, type QuotaObject as Quota, readBlocked, readQuota } from '../diagnosis/quota.ts';
import { type Blocked, objectName, uid } from '../kube/remediation.ts';
import { RetryLater } from '../lib/errors.ts';
import { hashOf } from '../lib/hash.ts';
import { counted, plain } from '../lib/text.ts';
import type { Action, ActionContext } from './action.ts';
import { canBeNudged } from './nudge.ts';
import { offLimits } from './ownership.ts';

const params = z.strictObject({ name: objectName, uid });
type Params = z.infer<typeof params>;

const apps = (resource: string) => ({ group: 'apps', resource, verb: 'patch' });
const refOf = (name: string, namespace: string) => ({ kind: 'ResourceQuota' as const, namespace, name });
const targetHash = ({ metadata, spec }: Quota): string => hashOf({ uid: metadata.uid, spec: spec ?? {} });

/** The quota with this uid, and not a later one of the same name. */
const read = (params: Params, { reader, namespace }: ActionContext): Promise<Quota | undefined> =>
  readQuota(reader, namespace, params);

/** Everything that a person or a tool put on it. kubectl writes its own annotation again. */
function metaOf({ metadata }: Quota) {
  const { 'kubectl.kubernetes.io/last-applied-configuration': _, ...annotations } = metadata.annotations ?? {};
  return { name: metadata.name, labels: metadata.labels, annotations };
}

const snapshot = (quota: Quota): string =>
  JSON.stringify({ uid: quota.metadata.uid, metadata: metaOf(quota), spec: quota.spec ?? {} });

const longestUndo = 4096;

/** Labels and annotations are restored too if they fit: without its own, Helm would not recognise the quota. */
function undo(namespace: string, quota: Quota): string {
  const command = (metadata: object): string =>
    `kubectl -n ${namespace} create -f - <<'EOF'\n` +
    `${JSON.stringify({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: quota.spec })}\nEOF`;
  const { name, labels, annotations } = metaOf(quota);
  const whole = Object.keys(annotations).length > 0 ? [{ name, labels, annotations }] : [];
  const found = [...whole, { name, labels }, { name }].map(command).find((text) => text.length <= longestUndo);
  return plain(found ?? "re-create the quota from this Remediation's status.execution.before", longestUndo);
}

const namesShown = 8;
const linesShown = 20;

function diff(quota: Quota, blocked: readonly Blocked[]): string {
  const retrying = blocked.filter(canBeNudged);
  const limits = Object.entries(quota.spec?.hard ?? {}).map(([what, limit]) => `  ${what}  ${limit}`);
  const more = limits.length > linesShown ? [`  and ${limits.length - linesShown} more limits`] : [];
  const names = retrying.slice(0, namesShown).map(({ kind, name }) => `${kind} ${name}`);
  const others = retrying.length > namesShown ? ` and ${retrying.length - namesShown} more` : '';
  const retry =
    retrying.length > 0
      ? [`then make ${counted(retrying.length, 'owner')} retry at once: ${names.join(', ')}${others}`]
      : [];
  const lines = [`delete ResourceQuota ${quota.metadata.name}`, ...limits.slice(0, linesShown), ...more, ...retry];
  return plain(lines.join('\n'), 8192);
}

export const deleteResourceQuota: Action<Params> = {
  type: 'DeleteResourceQuota',
  block: 'deleteResourceQuota',
  params,
  role: 'tapfix-writer-quotas',
  rights: [
    { group: '', resource: 'resourcequotas', verb: 'delete' },
    ...['replicasets', 'statefulsets', 'daemonsets'].map(apps), // the nudge
    { group: 'batch', resource: 'jobs', verb: 'patch' },
  ],
  noun: 'quota deletion',
  target: ({ name, uid }) => ({ kind: 'ResourceQuota', name, uid }),
  summary: ({ name }) => `delete ResourceQuota ${name}, then make the blocked workloads retry at once`,
  consequence: ({ name }) => `delete quota ${name}`,

  async prepare(params, context) {
    const { namespace, reader } = context;
    const quota = await read(params, context);
    if (!quota) return { ok: false, reason: 'TargetGone', say: `ResourceQuota ${params.name} is no longer there.` };
    const refusal = offLimits(`ResourceQuota ${params.name}`, quota.metadata);
    if (refusal) return refusal;
    const owners = await readBlocked(reader, namespace, quota);
    if (owners.length === 0)
      return { ok: false, reason: 'NotBlocking', say: `ResourceQuota ${params.name} refuses nobody at the moment.` };
    if (!owners.some(isProven)) {
      const unknown = owners.find((owner) => owner.unknown)?.unknown;
      if (unknown) return { ok: false, reason: 'NotProven', say: `What the pods ask is not known: ${unknown}.` };
      // Its usage changes every second, so one reading gives no final verdict.
      throw new RetryLater(`ResourceQuota ${params.name} has room at the moment`, 1_000);
    }
    const waiting = owners.filter((owner) => isWaiting(owner) && owner.unknown === undefined);
    const blocked = waiting.map(({ kind, name, uid }) => ({ kind, name, uid }));
    // Its status changes with every pod of the namespace, so the precondition comes from a reading as late as possible.
    const last = await read(params, context);
    if (!last || targetHash(last) !== targetHash(quota))
      throw new RetryLater(`ResourceQuota ${params.name} changes at the moment`, 1_000);
    const { resourceVersion } = last.metadata;
    return {
      ok: true,
      targetHash: targetHash(quota),
      before: snapshot(quota),
      diff: diff(quota, blocked),
      undo: undo(namespace, quota),
      write: { do: 'delete', ref: refOf(params.name, namespace), preconditions: { uid: params.uid, resourceVersion } },
      blocked,
    };
  },

  async inspect(params, before, context) {
    const quota = await read(params, context);
    if (!quota) return 'ours';
    const { uid, spec } = JSON.parse(before) as { uid: string; spec: object };
    return targetHash(quota) === hashOf({ uid, spec }) ? 'untouched' : 'other';
  },

  async snapshot(params, context) {
    const quota = await read(params, context);
    return quota ? snapshot(quota) : '';
  },
};
