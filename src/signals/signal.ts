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
  /** It was there when we (again) began to look: perhaps news, perhaps long known. */
  listed?: boolean;
}

/** The same for every observation of the same trouble on the same object. */
export const identityOf = ({ namespace, object, class: failureClass, cause }: Signal): string =>
  [namespace, object.kind, object.name, object.uid, failureClass, cause?.name ?? ''].join('/');

/** What became of a signal: each one ends in exactly one of these, counted by it. */
export const SignalOutcome = {
  kept: 'Kept',
  notAFailure: 'NotAFailure',
  namespaceNotSelected: 'NamespaceNotSelected',
  ignoredByRule: 'IgnoredByRule',
  ignoredByAnnotation: 'IgnoredByAnnotation',
  classDisabled: 'ClassDisabled',
  ownerUnknown: 'OwnerUnknown',
  namespaceTerminating: 'NamespaceTerminating',
  healedBeforeTold: 'HealedBeforeTold',
  targetGone: 'TargetGone',
  noLongerTrue: 'NoLongerTrue',
} as const;
export type SignalOutcome = (typeof SignalOutcome)[keyof typeof SignalOutcome];
