import { z } from 'zod';
import type { JsonPatchOp, KubeObject } from '../kube/api.ts';
import { objectName, uid } from '../kube/remediation.ts';
import type { PodTemplate } from '../kube/views.ts';
import { controllerOf, viewDeployment, viewReplicaSet } from '../kube/views.ts';
import { hashOf, sameValue } from '../lib/hash.ts';
import type { Action, ActionContext, Refusal } from './action.ts';
import { longestSnapshot, markAnnotation } from './action.ts';
import { offLimits } from './ownership.ts';
import { essence, mergeTemplate, withoutEnvValues, withoutRestart } from './template.ts';
import { templateDiff } from './template-diff.ts';

const params = z.strictObject({
  kind: z.literal('Deployment'),
  name: objectName,
  uid,
  toRevision: z.number().int().min(1),
});
type Params = z.infer<typeof params>;

interface Templated extends KubeObject {
  spec: { template: PodTemplate };
}

const refOf = (name: string, namespace: string) => ({ kind: 'Deployment' as const, namespace, name });
const currentHash = (uid: string, template: PodTemplate): string => hashOf({ uid, template });
/** What is replaced and what replaces it: a ReplicaSet's template can be edited, and nobody was shown that. */
const targetHash = (uid: string, current: PodTemplate, next: PodTemplate): string =>
  hashOf({ uid, template: current, next: essence(next) });
/** Enough to compare with, and to read. Who may read Remediations need not be one who may read literal env values. */
const snapshot = ({ metadata, spec }: Templated): string =>
  JSON.stringify({ currentHash: currentHash(metadata.uid, spec.template), template: withoutEnvValues(spec.template) });

async function read({ name, uid }: Params, { reader, namespace }: ActionContext): Promise<Templated | undefined> {
  const deployment = await reader.get<Templated>(refOf(name, namespace));
  return deployment?.metadata.uid === uid && !deployment.metadata.deletionTimestamp ? deployment : undefined;
}

/** Undefined when there is none, or more than one: which was meant is nothing to guess. */
async function templateOf(params: Params, { reader, namespace }: ActionContext): Promise<PodTemplate | undefined> {
  const sets = await reader.list<Templated>('ReplicaSet', namespace);
  const ours = sets.filter((set) => controllerOf(set.metadata)?.uid === params.uid);
  const [only, ...others] = ours.filter((set) => viewReplicaSet(set)?.revision === params.toRevision);
  return others.length === 0 ? only?.spec.template : undefined;
}

function patch({ metadata }: Templated, template: PodTemplate, fixUid: string): JsonPatchOp[] {
  const mark: JsonPatchOp = metadata.annotations
    ? { op: 'add', path: `/metadata/annotations/${markAnnotation.replace('/', '~1')}`, value: fixUid }
    : { op: 'add', path: '/metadata/annotations', value: { [markAnnotation]: fixUid } };
  return [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
    { op: 'replace', path: '/spec/template', value: template },
    mark,
  ];
}

const no = (reason: string, say: string): Refusal => ({ ok: false, reason, say });

export const rolloutUndo: Action<Params> = {
  type: 'RolloutUndo',
  block: 'rolloutUndo',
  params,
  role: 'tapfix-writer-workloads',
  rights: [{ group: 'apps', resource: 'deployments', verb: 'patch', owns: ['template'] }],
  verb: 'undo',
  noun: 'undo',
  target: ({ kind, name, uid }) => ({ kind, name, uid }),
  summary: ({ name, toRevision }) => `undo the rollout of ${name}, back to revision ${toRevision}`,
  consequence: ({ name, toRevision }) => `undo ${name} to revision ${toRevision}`,

  async prepare(params, context) {
    const { name, toRevision } = params;
    const live = await read(params, context);
    if (!live) return no('TargetGone', `Deployment ${name} is no longer there.`);
    const view = viewDeployment(live)!;
    if (view.paused) return no('Paused', `Deployment ${name} is paused: an undo would not roll out.`);
    const refusal = offLimits(`Deployment ${name}`, live.metadata);
    if (refusal) return refusal;
    const older = await templateOf(params, context);
    if (!older) return no('RevisionGone', `Revision ${toRevision} of ${name} is no longer kept.`);
    const current = live.spec.template;
    const next = mergeTemplate(older, current);
    if (sameValue(withoutRestart(next), withoutRestart(current))) {
      return no('AlreadyThere', `${name} already runs what revision ${toRevision} ran.`);
    }
    const before = snapshot(live);
    if (before.length > longestSnapshot)
      return no('TooLarge', `The template of ${name} is too large to keep a copy of.`);
    const to = view.revision > 0 ? ` --to-revision=${view.revision}` : '';
    return {
      ok: true,
      targetHash: targetHash(params.uid, current, next),
      before,
      diff: templateDiff(current, next),
      undo: `kubectl -n ${context.namespace} rollout undo deploy/${name}${to}`,
      write: { do: 'patch', ref: refOf(name, context.namespace), body: patch(live, next, context.fixUid) },
      blocked: [],
    };
  },

  async inspect(params, before, context) {
    const live = await read(params, context);
    if (!live) return 'other';
    if (live.metadata.annotations?.[markAnnotation] === context.fixUid) return 'ours';
    const known = JSON.parse(before) as { currentHash?: string };
    return currentHash(params.uid, live.spec.template) === known.currentHash ? 'untouched' : 'other';
  },

  async snapshot(params, context) {
    const live = await read(params, context);
    return live ? snapshot(live).slice(0, longestSnapshot) : '';
  },
};
