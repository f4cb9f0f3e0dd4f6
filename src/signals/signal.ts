import type { Trouble } from '../health/trouble.ts';

/** One observation of a failure, before anyone has judged it. */
export interface Signal {
  class: string;
  namespace: string;
  /** What the observation is about: a Pod, a ReplicaSet... */
  object: { kind: string; name: string; uid: string };
  /** The shared cause, when the observation names one: it becomes the incident's key. */
  cause?: { kind: string; name: string };
  reason: string;
  message: string;
  /** When it was, by the cluster's own words: tells what came after it, never how long to be patient. */
  saidAtMs?: number;
  /** It was there when we (again) began to look: perhaps news, perhaps long known. */
  listed?: boolean;
  /** It was in the first list of this process: broken before we came. */
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

/** What became of a signal: each one ends in exactly one of these but `kept`, which only says that it goes on. */
export const SignalOutcome = {
  kept: 'Kept',
  recorded: 'Told',
  /** Of what is told already. */
  repeated: 'Repeated',
  /** Of a shared cause that is told. */
  symptom: 'Symptom',
  notAFailure: 'NotAFailure',
  unreadable: 'Unreadable',
  namespaceNotSelected: 'NamespaceNotSelected',
  ignoredByRule: 'IgnoredByRule',
  /** By somebody in chat, for a while. */
  muted: 'Muted',
  ignoredByAnnotation: 'IgnoredByAnnotation',
  classDisabled: 'ClassDisabled',
  ownerUnknown: 'OwnerUnknown',
  namespaceTerminating: 'NamespaceTerminating',
  healedBeforeTold: 'HealedBeforeTold',
  targetGone: 'TargetGone',
  noLongerTrue: 'NoLongerTrue',
  /** Of what has no readable state: it was not seen again. */
  noLongerSeen: 'NoLongerSeen',
} as const;
export type SignalOutcome = (typeof SignalOutcome)[keyof typeof SignalOutcome];
