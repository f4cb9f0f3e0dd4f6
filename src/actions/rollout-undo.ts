import { z } from 'zod';
import { objectName, uid } from '../kube/remediation.ts';
import type { PodTemplate } from '../kube/views.ts';
import { hashOf, sameValue } from '../lib/hash.ts';
import { plain } from '../lib/plain.ts';
import type { Action } from './action.ts';
import { longestDiff, longestSnapshot, no, rolledOutKinds } from './action.ts';
import { createMemory, markedPatch, readMeant, refOf, targetGone, type Workload } from './marked.ts';
import { offLimits } from './ownership.ts';
import { currentRevision, readRevisions, templateOf } from './revisions.ts';
import { readInTheWay, rolloutRights, shortKind, wouldNotRollOut } from './rollout.ts';
import { essence, mergeTemplate, withoutEnvValues, withoutRestart } from './template.ts';
import { templateDiff } from './template-diff.ts';

const params = z.strictObject({
  kind: z.enum(rolledOutKinds),
  name: objectName,
  uid,
  toRevision: z.number().int().min(1),
});
type Params = z.infer<typeof params>;

/** Enough to compare with, and to read. Who may read Remediations need not be one who may read literal env values. */
const memory = createMemory<Params>(
  (params) => params,
  ({ spec: { template } }) => ({ exactly: { template }, readable: { template: withoutEnvValues(template) } }),
);

/** What is replaced and what replaces it: an old revision's template can be edited, and nobody was shown that. */
const targetHash = (uid: string, current: PodTemplate, next: PodTemplate): string =>
  hashOf({ uid, template: current, next: essence(next) });

/** What nobody keeps cannot be gone back to, and the snapshot has no literals of env. */
function putBack({ kind, name }: Params, namespace: string, { spec }: Workload, revision: number): string {
  if (spec.revisionHistoryLimit === 0)
    return '# what it runs now will not be kept (revisionHistoryLimit is 0): to have it back, apply its manifest again';
  const to = revision > 0 ? ` --to-revision=${revision}` : '';
  return `kubectl -n ${namespace} rollout undo ${shortKind[kind]}/${name}${to}`;
}

export const rolloutUndo: Action<Params> = {
  type: 'RolloutUndo',
  block: 'rolloutUndo',
  params,
  role: 'tapfix-writer-workloads',
  rights: rolloutRights,
  verb: 'undo',
  noun: 'undo',
  target: ({ kind, name, uid }) => ({ kind, name, uid }),
  summary: ({ name, toRevision }) => `undo the rollout of ${name}, back to revision ${toRevision}`,
  consequence: ({ name, toRevision }) => `undo ${name} to revision ${toRevision}`,
  inspect: memory.inspect,
  snapshot: memory.snapshot,

  async prepare(params, context) {
    const { kind, name, toRevision } = params;
    const live = await readMeant(params, context);
    if (!live) return targetGone(params);
    const refusal = wouldNotRollOut(params, live, 'an undo') ?? offLimits(`${kind} ${name}`, live.metadata);
    if (refusal) return refusal;
    const kept = await readRevisions(params, context);
    const older = templateOf(kept, toRevision);
    if (!older) return no('RevisionGone', `Revision ${toRevision} of ${name} is no longer kept.`);
    const current = live.spec.template;
    const next = mergeTemplate(older, current);
    if (sameValue(withoutRestart(next), withoutRestart(current))) {
      return no('AlreadyThere', `${name} already runs what revision ${toRevision} ran.`);
    }
    const before = memory.remember(live, params);
    if (before.length > longestSnapshot)
      return no('TooLarge', `The template of ${name} is too large to keep a copy of.`);
    const inTheWay = await readInTheWay(params, live, context);
    if ('ok' in inTheWay) return inTheWay;
    return {
      ok: true,
      targetHash: targetHash(params.uid, current, next),
      before,
      diff: plain([templateDiff(current, next), ...inTheWay.lines].join('\n'), longestDiff),
      undo: putBack(params, context.namespace, live, currentRevision(kind, live, kept)),
      write: {
        do: 'patch',
        ref: refOf(params, context.namespace),
        body: markedPatch(live, [{ op: 'replace', path: '/spec/template', value: next }], context.fixUid),
      },
      blocked: inTheWay.pods,
    };
  },
};
