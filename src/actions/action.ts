import type { z } from 'zod';
import type { JsonPatchOp, Preconditions, Reader } from '../kube/api.ts';
import type { Blocked } from '../kube/remediation.ts';
import type { Ref } from '../kube/resources.ts';

/** The fixed ClusterRoles that the controller may bind the writer to. */
export type WriterRole = 'tapfix-writer-quotas' | 'tapfix-writer-workloads' | 'tapfix-writer-pods';

/** One row of the table that RBAC, the admission policies and the can-i test are generated from. */
export interface Right {
  group: string;
  resource: string;
  verb: string;
  /** For a patch: the fields of `spec` that it may change. Without any, it may only annotate. */
  owns?: readonly string[];
  /** CEL that must also hold for the request, and the API server's message if it does not. */
  must?: { hold: string; say: string };
}

export interface ActionContext {
  namespace: string;
  /** uid of the Remediation, which we write as our mark. */
  fixUid: string;
  reader: Reader;
  /** When the change is made, for an action that records the time. Not needed only to look at the plan. */
  atMs?: number;
}

/** Exactly one change, with the precondition under which it is still the one that was shown. */
export type Write =
  | { do: 'patch'; ref: Ref; body: JsonPatchOp[] }
  | { do: 'delete'; ref: Ref; preconditions: Preconditions }
  | { do: 'evict'; ref: Ref; preconditions: Preconditions };

/** Everything that is known before anything is changed, from one reading of the live target. */
export interface ActionPlan {
  /** Hash of the uid and of the values that the action replaces. An approval is bound to it. */
  targetHash: string;
  /** The snapshot, as JSON. `inspect` compares with it after a crash. */
  before: string;
  /** The text that a person approves. */
  diff: string;
  /** The command that undoes the change, or a comment if there is nothing to undo. */
  undo: string;
  write: Write;
  /**
   * Objects that are nudged after the change, because otherwise it would have no effect for a long time: owners whose
   * pods were refused, so that they retry at once, and pods that a StatefulSet waits for, which are evicted. Empty for
   * most actions.
   */
  blocked: Blocked[];
}

/** `reason` is a condition reason and metric label, `say` is the text for the person. */
export interface ActionRefusal {
  ok: false;
  reason: string;
  say: string;
}
export type Prepared = ActionRefusal | ({ ok: true } & ActionPlan);

export const no = (reason: string, say: string): ActionRefusal => ({ ok: false, reason, say });

/** After a crash: nothing of ours happened, our mark is there, or somebody else changed it. */
export type Trace = 'untouched' | 'ours' | 'other';

export const rolledOutKinds = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;
export type RolledOutKind = (typeof rolledOutKinds)[number];

export interface Target {
  kind: RolledOutKind | 'ResourceQuota' | 'Pod';
  name: string;
  uid: string;
}

export interface Action<P> {
  readonly type: string;
  /** Name of the typed params block beside `type` in `spec.action`. */
  readonly block: string;
  readonly params: z.ZodType<P>;
  readonly role: WriterRole;
  readonly rights: readonly Right[];
  /** For texts that do not name the target otherwise, as in conditions and Events: "quota deletion". */
  readonly noun: string;
  target(params: P): Target;
  /** The line a person approves. */
  summary(params: P): string;
  /** The consequence in the question before it: "Really delete quota platform-hardening?" */
  consequence(params: P): string;
  prepare(params: P, context: ActionContext): Promise<Prepared>;
  inspect(params: P, before: string, context: ActionContext): Promise<Trace>;
  /** The current value of what `before` holds; empty if the target is gone. */
  snapshot(params: P, context: ActionContext): Promise<string>;
  /** True if the fix is meant to stop everything of the target. Then "recovered" means that nothing runs. */
  switchesOff?(params: P): boolean;
}

/** The longest `before` and `after` that the resource can hold, and the longest diff. */
export const longestSnapshot = 262_144;
export const longestDiff = 8192;

/** Our mark. It is in the same patch as the change, so that both happen or neither. */
export const markAnnotation = 'tapfix.dev/fix';
