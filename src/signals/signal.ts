import type { Trouble } from '../health/trouble.ts';

/** One observation of a failure, before anything has judged it. */
export interface Signal {
  class: string;
  namespace: string;
  /** The object that was observed: a Pod, a ReplicaSet... */
  object: { kind: string; name: string; uid: string };
  /** The shared cause, when the observation names one: it becomes the incident's key. */
  cause?: { kind: string; name: string };
  reason: string;
  message: string;
  /**
   * When it happened, by the cluster's own timestamp. It shows what came after it; patience is never counted from it.
   */
  saidAtMs?: number;
  /** It was already there when we began to watch (again): perhaps new, perhaps known for long. */
  listed?: boolean;
  /** It was in the first list of this process: broken before we started. */
  atStart?: boolean;
}

/** Everything that was found wrong with one object. */
export const signalsOf = (
  kind: string,
  { namespace, name, uid }: { namespace: string; name: string; uid: string },
  troubles: readonly Trouble[],
): Signal[] =>
  troubles.map(({ class: failureClass, cause, reason, message }) => ({
    class: failureClass,
    namespace,
    object: { kind, name, uid },
    ...(cause && { cause }),
    reason: reason || failureClass,
    message,
  }));

/** The same for every observation of the same trouble on the same object. */
export const identityOf = ({ namespace, object, class: failureClass, cause }: Signal): string =>
  [namespace, object.kind, object.name, object.uid, failureClass, cause ? `${cause.kind}/${cause.name}` : ''].join('/');

/**
 * The outcomes of a signal. Each signal ends in exactly one of these, except `kept`, which only means that it goes on.
 */
export const SignalOutcome = {
  kept: 'Kept',
  recorded: 'Told',
  /** Its incident is already open. */
  repeated: 'Repeated',
  /** A shared cause whose incident is open explains it. */
  symptom: 'Symptom',
  notAFailure: 'NotAFailure',
  unreadable: 'Unreadable',
  namespaceNotSelected: 'NamespaceNotSelected',
  ignoredByRule: 'IgnoredByRule',
  /** Muted in chat, for a while. */
  muted: 'Muted',
  ignoredByAnnotation: 'IgnoredByAnnotation',
  classDisabled: 'ClassDisabled',
  ownerUnknown: 'OwnerUnknown',
  namespaceTerminating: 'NamespaceTerminating',
  healedBeforeTold: 'HealedBeforeTold',
  targetGone: 'TargetGone',
  noLongerTrue: 'NoLongerTrue',
  /** Its class has no readable state, and it was not seen again. */
  noLongerSeen: 'NoLongerSeen',
} as const;
export type SignalOutcome = (typeof SignalOutcome)[keyof typeof SignalOutcome];
