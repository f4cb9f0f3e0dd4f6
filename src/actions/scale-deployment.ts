import { z } from 'zod';
import type { KubeObject } from '../kube/api.ts';
import { objectName, uid } from '../kube/remediation.ts';
import { counted } from '../lib/text.ts';
import { type Action, type ActionContext, no, type ActionRefusal } from './action.ts';
import { offLimits } from './ownership.ts';
import { createMemory, markedPatch, readMeant, refOf, targetGone, type LiveWorkload } from './workload-patch.ts';

export const mostReplicas = 50;

const params = z.strictObject({ name: objectName, uid, replicas: z.number().int().min(0).max(mostReplicas) });
type Params = z.infer<typeof params>;

const targetOf = ({ name, uid }: Params) => ({ kind: 'Deployment' as const, name, uid });
const replicasOf = ({ spec }: LiveWorkload): number => spec.replicas ?? 1;

const memory = createMemory<Params>(targetOf, (live) => {
  const replicas = replicasOf(live);
  return { exactly: { replicas }, readable: { replicas } };
});

interface Autoscaler extends KubeObject {
  spec?: { scaleTargetRef?: { apiVersion?: string; kind?: string; name?: string } };
}

/** An autoscaler that sets the replicas would set them again. */
async function autoscaled({ name }: Params, { reader, namespace }: ActionContext): Promise<ActionRefusal | undefined> {
  const all = await reader.list<Autoscaler>('HorizontalPodAutoscaler', namespace);
  const its = all.find(({ spec }) => {
    const { apiVersion = 'apps/v1', kind, name: target } = spec?.scaleTargetRef ?? {};
    return apiVersion.startsWith('apps/') && kind === 'Deployment' && target === name;
  });
  if (!its) return undefined;
  return no(
    'Autoscaled',
    `HorizontalPodAutoscaler ${its.metadata.name} sets the replicas of ${name}, and would put them back.`,
  );
}

export const scaleDeployment: Action<Params> = {
  type: 'ScaleDeployment',
  block: 'scaleDeployment',
  params,
  role: 'tapfix-writer-workloads',
  rights: [
    {
      group: 'apps',
      resource: 'deployments', // not its subresource: at admission a Scale carries no labels
      verb: 'patch',
      owns: ['replicas'],
      must: {
        hold: `object.spec.?replicas == oldObject.spec.?replicas || object.spec.replicas <= ${mostReplicas}`,
        say: `tapfix-writer scales to ${mostReplicas} replicas at most`,
      },
    },
  ],
  noun: 'scaling',
  target: targetOf,
  summary: ({ name, replicas }) =>
    replicas === 0
      ? `scale ${name} to zero: none of it runs any more`
      : `scale ${name} to ${counted(replicas, 'replica')}`,
  consequence: ({ name, replicas }) => `scale ${name} to ${replicas}`,
  switchesOff: ({ replicas }) => replicas === 0,
  inspect: memory.inspect,
  snapshot: memory.snapshot,

  async prepare(params, context) {
    const { name, replicas } = params;
    const live = await readMeant(targetOf(params), context);
    if (!live) return targetGone(targetOf(params));
    const refusal = offLimits(`Deployment ${name}`, live.metadata) ?? (await autoscaled(params, context));
    if (refusal) return refusal;
    const current = replicasOf(live);
    if (current === replicas) return no('AlreadyThere', `${name} is already scaled to ${replicas}.`);
    return {
      ok: true,
      targetHash: memory.hashed(live, params),
      before: memory.remember(live, params),
      diff: `replicas  ${current} → ${replicas}`,
      undo: `kubectl -n ${context.namespace} scale deploy/${name} --replicas=${current}`,
      write: {
        do: 'patch',
        ref: refOf(targetOf(params), context.namespace),
        body: markedPatch(live, [{ op: 'add', path: '/spec/replicas', value: replicas }], context.fixUid),
      },
      blocked: [],
    };
  },
};
