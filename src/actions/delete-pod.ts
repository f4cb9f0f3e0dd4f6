import { z } from 'zod';
import type { KubeObject } from '../kube/api.ts';
import { type Owner, readOwners } from '../kube/owners.ts';
import { controllerOf } from '../kube/raw.ts';
import { objectName, uid } from '../kube/remediation.ts';
import { hashOf } from '../lib/hash.ts';
import { line, plain } from '../lib/text.ts';
import { type Action, type ActionContext, type ActionRefusal, longestDiff, no } from './action.ts';
import { overBudget } from './disruption-budget.ts';
import { untouchable } from './ownership.ts';
import { evictionRight } from './perform.ts';
import { targetGone } from './workload-patch.ts';

const params = z.strictObject({ name: objectName, uid });
type Params = z.infer<typeof params>;

interface Pod extends KubeObject {
  spec?: { nodeName?: string; volumes?: { name: string; emptyDir?: object }[] } & Record<string, unknown>;
}

interface Read {
  pod: Pod;
  owners: Owner[];
}

const refOf = ({ name }: Params, namespace: string) => ({ kind: 'Pod' as const, namespace, name });

/** The pod with this uid. One that is already being deleted counts as gone. */
async function read(params: Params, { reader, namespace }: ActionContext): Promise<Read | undefined> {
  const pod = await reader.get<Pod>(refOf(params, namespace));
  if (pod?.metadata.uid !== params.uid || pod.metadata.deletionTimestamp) return undefined;
  return { pod, owners: await readOwners(reader, namespace, controllerOf(pod.metadata)) };
}

const hashed = ({ pod, owners }: Read): string =>
  hashOf({ uid: pod.metadata.uid, owners: owners.map(({ uid }) => uid), spec: pod.spec ?? {} });

/** Nothing of its spec is kept: literal env values are often passwords, and nobody restores a pod. */
const snapshot = (found: Read): string =>
  JSON.stringify({
    currentHash: hashed(found),
    node: found.pod.spec?.nodeName,
    owners: found.owners.map(({ kind, name }) => `${kind}/${name}`),
  });

/** These owners make a new pod when one is gone. */
const replacing: ReadonlySet<string> = new Set(['ReplicaSet', 'StatefulSet', 'DaemonSet']);

function whyNot({ pod, owners }: Read): ActionRefusal | undefined {
  const { name, annotations } = pod.metadata;
  const [owner] = owners;
  const isItsNodes = pod.metadata.ownerReferences?.some(({ kind }) => kind === 'Node') ?? false;
  if (annotations?.['kubernetes.io/config.mirror'] !== undefined || isItsNodes)
    return no('StaticPod', `Pod ${name} is a static pod: only the kubelet of its node can replace it.`);
  if (!owner) return no('NoOwner', `Pod ${name} has no owner: nobody would make a new one.`);
  if (owner.kind === 'Job')
    return no('JobPod', `Pod ${name} belongs to Job ${owner.name}, which would count it as failed.`);
  if (!replacing.has(owner.kind))
    return no(
      'UnknownOwner',
      `Pod ${name} belongs to ${line(`${owner.kind} ${owner.name}`, 253)}: whether it would make a new one is not known.`,
    );
  if (!owner.live || owner.live.metadata.deletionTimestamp)
    return no('OwnerGone', `${owner.kind} ${owner.name}, whose pod ${name} is, is gone: nobody would make a new one.`);
  const marked = owners.flatMap(({ kind, name, live }) =>
    live ? [untouchable(`${kind} ${name}`, live.metadata)] : [],
  );
  // Evictions carry no labels at admission: only this check spares a protected pod.
  return untouchable(`Pod ${name}`, pod.metadata) ?? marked.find(Boolean);
}

function diff({ pod, owners: [owner] }: Read): string {
  const { nodeName, volumes = [] } = pod.spec ?? {};
  const scratch = volumes.filter(({ emptyDir }) => emptyDir).map(({ name }) => name);
  const where = nodeName ? ` on node ${nodeName}` : '';
  const lost = scratch.length > 0 ? [`what it keeps in its emptyDir volumes is lost: ${scratch.join(', ')}`] : [];
  const lines = [`evict pod ${pod.metadata.name}${where}; ${owner?.kind} ${owner?.name} makes a new one`, ...lost];
  return plain(lines.join('\n'), longestDiff);
}

export const deletePod: Action<Params> = {
  type: 'DeletePod',
  block: 'deletePod',
  params,
  role: 'tapfix-writer-pods',
  rights: [evictionRight],
  noun: 'pod deletion',
  target: ({ name, uid }) => ({ kind: 'Pod', name, uid }),
  summary: ({ name }) => `evict pod ${name}; its owner makes a new one`,
  consequence: ({ name }) => `delete pod ${name}`,

  async prepare(params, context) {
    const found = await read(params, context);
    if (!found) return targetGone({ kind: 'Pod', name: params.name });
    const { pod, owners } = found;
    const refusal = whyNot(found) ?? (await overBudget([pod], context));
    if (refusal) return refusal;
    const { uid, resourceVersion } = pod.metadata;
    return {
      ok: true,
      targetHash: hashed(found),
      before: snapshot(found),
      diff: diff(found),
      undo: plain(`# nothing to undo: ${owners[0]?.kind} ${owners[0]?.name} makes a new pod`, 512),
      // With the resourceVersion, so that a label that protects the pod cannot be added in between.
      write: { do: 'evict', ref: refOf(params, context.namespace), preconditions: { uid, resourceVersion } },
      blocked: [],
    };
  },

  async inspect(params, before, context) {
    const found = await read(params, context);
    if (!found) return 'ours';
    const { currentHash } = JSON.parse(before) as { currentHash?: string };
    return hashed(found) === currentHash ? 'untouched' : 'other';
  },

  async snapshot(params, context) {
    const found = await read(params, context);
    return found ? snapshot(found) : '';
  },
};
