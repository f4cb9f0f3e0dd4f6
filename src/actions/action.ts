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
  /** Of a patch: the fields of `spec` that it may change; without any it may only annotate. */
  owns?: readonly string[];
  /** CEL that must hold of the request as well, and what the API server says when it does not. */
  must?: { hold: string; say: string };
}

export interface ActionContext {
  namespace: string;
  /** uid of the Remediation: our mark. */
  fixUid: string;
  reader: Reader;
  /** When the change is made, for an action that writes that down. Who only looks at the plan needs none. */
  atMs?: number;
}

/** Exactly one change, with the precondition under which it is still the one that was shown. */
export type Write =
  | { do: 'patch'; ref: Ref; body: JsonPatchOp[] }
  | { do: 'delete'; ref: Ref; preconditions: Preconditions }
  | { do: 'evict'; ref: Ref; preconditions: Preconditions };

/** Everything that is known before anything is changed, from one reading of the live target. */
export interface ActionPlan {
  /** uid + the values the action replaces: what people approve is bound to it. */
  targetHash: string;
  /** The snapshot, as JSON: what `inspect` compares with after a crash. */
  before: string;
  /** What a person approves. */
  diff: string;
  /** How to put it back, as a command; a comment, if there is nothing to put back. */
  undo: string;
  write: Write;
  /**
   * Who is nudged after the change, or it would not be felt for long: owners whose pods were refused, so that they try
   * again at once, and pods that a StatefulSet waits for, which are evicted. Empty for most actions.
   */
  blocked: Blocked[];
}

/** `reason` is a condition reason and metric label, `say` is what the person reads. */
export interface ActionRefusal {
  ok: false;
  reason: string;
  say: string;
}
export type Prepared = ActionRefusal | ({ ok: true } & ActionPlan);

export const no = (reason: string, say: string): ActionRefusal => ({ ok: false, reason, say });

/** After a crash: nothing of ours happened, our mark is there, or somebody changed it otherwise. */
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
  /** On the button, "Approve undo", and in headlines, after what it is done to. */
  readonly verb: string;
  /** Where nothing else says what it is done to, as in conditions and Events: "quota deletion". */
  readonly noun: string;
  target(params: P): Target;
  /** The line a person approves. */
  summary(params: P): string;
  /** The consequence on the confirm button: "delete quota platform-hardening". */
  consequence(params: P): string;
  prepare(params: P, context: ActionContext): Promise<Prepared>;
  inspect(params: P, before: string, context: ActionContext): Promise<Trace>;
  /** What `before` holds, as it is now; empty when the target is gone. */
  snapshot(params: P, context: ActionContext): Promise<string>;
  /** It is asked for that nothing of the target runs afterwards: then that is what its recovery means. */
  switchesOff?(params: P): boolean;
}

/** Longest `before` and `after` the resource holds, and longest diff. */
export const longestSnapshot = 262_144;
export const longestDiff = 8192;

/** Travels in the same patch as the change, so that it and the change are one. */
export const markAnnotation = 'tapfix.dev/fix';
