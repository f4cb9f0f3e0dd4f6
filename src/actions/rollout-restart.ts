import { z } from 'zod';
import type { JsonPatchOp } from '../kube/api.ts';
import { objectName, uid } from '../kube/remediation.ts';
import { isTime, restartedAt } from '../kube/template-secrets.ts';
import type { PodTemplate } from '../kube/views.ts';
import { iso } from '../lib/clock.ts';
import { plain } from '../lib/text.ts';
import { type Action, longestDiff, rolledOutKinds } from './action.ts';
import { untouchable } from './ownership.ts';
import { readInTheWay, replaceInWords, rolloutRights, wouldNotRollOut } from './rollout.ts';
import { annotated, createMemory, markedPatch, readMeant, refOf, targetGone } from './workload-patch.ts';

const params = z.strictObject({ kind: z.enum(rolledOutKinds), name: objectName, uid });
type Params = z.infer<typeof params>;

/** An annotation may hold any text, and only a time is shown. */
function lastRestart({ metadata }: PodTemplate): string {
  const text = metadata?.annotations?.[restartedAt] ?? '';
  return text === '' || isTime(text) ? text : '(not a time)';
}

/**
 * The whole template is compared: a person who sees "restart" has not approved another version, nor a second restart.
 */
const memory = createMemory<Params>(
  (params) => params,
  ({ spec: { template } }) => ({ exactly: { template }, readable: { restartedAt: lastRestart(template) } }),
);

/** The same as `kubectl rollout restart` does. */
const restart = ({ metadata }: PodTemplate, time: string): JsonPatchOp =>
  metadata
    ? annotated('/spec/template/metadata', metadata, restartedAt, time)
    : { op: 'add', path: '/spec/template/metadata', value: { annotations: { [restartedAt]: time } } };

export const rolloutRestart: Action<Params> = {
  type: 'RolloutRestart',
  block: 'rolloutRestart',
  params,
  role: 'tapfix-writer-workloads',
  rights: rolloutRights,
  noun: 'restart',
  target: ({ kind, name, uid }) => ({ kind, name, uid }),
  summary: ({ kind, name }) => `restart ${kind} ${name}: new pods of the same version`,
  consequence: ({ name }) => `restart ${name}`,
  inspect: memory.inspect,
  snapshot: memory.snapshot,

  async prepare(params, context) {
    const { kind, name } = params;
    const live = await readMeant(params, context);
    if (!live) return targetGone(params);
    // A GitOps tool that owns the spec does not revert this: the annotation is not in its manifests.
    const refusal = wouldNotRollOut(params, live, 'a restart') ?? untouchable(`${kind} ${name}`, live.metadata);
    if (refusal) return refusal;
    const inTheWay = await readInTheWay(params, live, context);
    if ('ok' in inTheWay) return inTheWay;
    const { template } = live.spec;
    const annotation = `pod annotation ${restartedAt}  ${lastRestart(template) || '(none)'} → the time of the restart`;
    return {
      ok: true,
      targetHash: memory.hashed(live, params),
      before: memory.remember(live, params),
      diff: plain([replaceInWords(params, live), annotation, ...inTheWay.lines].join('\n'), longestDiff),
      undo: '# nothing to undo: the new pods run what the old ones ran',
      write: {
        do: 'patch',
        ref: refOf(params, context.namespace),
        body: markedPatch(live, [restart(template, iso(context.atMs ?? 0))], context.fixUid),
      },
      blocked: inTheWay.pods,
    };
  },
};
