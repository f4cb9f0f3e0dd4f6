import type { LiveHealth } from '../health/trouble.ts';
import type { Incident, SeenClass } from '../incidents/incident.ts';
import type { Judged } from '../incidents/intake.ts';
import type { Notice } from '../kube/notice.ts';
import type { Root } from '../kube/owners.ts';
import type { Remediation, RemediationSpec } from '../kube/remediation.ts';
import { type Kind, resources } from '../kube/resources.ts';
import { UserError } from '../lib/errors.ts';
import { closest } from '../lib/text.ts';
import type { SignalOutcome } from '../signals/signal.ts';
import type { SurveyedSignal } from '../signals/survey.ts';

/** The object that somebody asks about. The namespace is empty for a cluster-scoped object. */
export interface ExplainTarget {
  namespace: string;
  kind: Kind;
  name: string;
}

/** The kinds that an incident can be about, or that can belong to one. The other names are kubectl's. */
const askable: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  Deployment: ['deploy'],
  StatefulSet: ['sts'],
  DaemonSet: ['ds'],
  ReplicaSet: ['rs'],
  Pod: ['po'],
  Job: [],
  CronJob: ['cj'],
  PersistentVolumeClaim: ['pvc'],
  HorizontalPodAutoscaler: ['hpa'],
  ResourceQuota: ['quota'],
  Node: ['no'],
  StorageClass: ['sc'],
};
const kinds = Object.keys(askable) as Kind[];

function kindOf(word: string): Kind | undefined {
  const wanted = word.toLowerCase();
  return kinds.find((kind) => [kind.toLowerCase(), resources[kind].plural, ...askable[kind]!].includes(wanted));
}

const refused = (why: string): UserError => new UserError(why, 2);
/** The API server's rule for names; the name becomes part of a path. */
const isName = (word: string): boolean => /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(word);

/** Pure. Reads "shop/Deployment/checkout", or for a cluster-scoped object "Node/worker-3". */
export function parseTarget(text: string): ExplainTarget {
  const parts = text.split('/');
  const [word = '', name = ''] = parts.slice(-2);
  const [namespace = ''] = parts.length > 2 ? parts : [];
  if (parts.length < 2 || parts.length > 3 || parts.includes(''))
    throw refused(`${JSON.stringify(text)} is not NAMESPACE/KIND/NAME: write it like shop/Deployment/checkout`);
  const kind = kindOf(word);
  if (!kind) {
    const close = closest(word, kinds);
    const known = close ? `did you mean ${close}?` : `there are ${kinds.join(', ')}`;
    throw refused(`tapfix knows no kind ${JSON.stringify(word)}: ${known}`);
  }
  for (const one of [name, ...(namespace ? [namespace] : [])])
    if (!isName(one)) throw refused(`${JSON.stringify(one)} is no name that Kubernetes would take`);
  if (!resources[kind].namespaced) return { namespace: '', kind, name };
  if (!namespace) throw refused(`in which namespace? Write it like shop/${kind}/${name}`);
  return { namespace, kind, name };
}

/** "Deployment checkout in shop". */
export const spoken = ({ namespace, kind, name }: ExplainTarget): string =>
  `${kind} ${name}${namespace ? ` in ${namespace}` : ''}`;

/** A sighting that is related to the target, and the filter's verdict on it. */
export interface SeenObject extends SurveyedSignal {
  judged: Judged;
}

/** One incident that the target is part of, or would be. */
export interface ExplainedCase {
  key: string;
  object: Root;
  /** The incident folded from all signals that were seen and kept; absent when there were none. */
  incident?: Incident;
  live: LiveHealth;
  /** The seen classes that a fresh reading confirms, the most specific first. */
  trueNow: readonly SeenClass[];
  /** Key of the open shared cause that explains it. */
  symptomOf?: string;
  /** The reason, found in the live objects, not to record it. */
  whyNot?: SignalOutcome;
  /** The spec that would be recorded now. */
  draft?: RemediationSpec;
  /** The Remediations of this key, newest first. */
  fixes: readonly Remediation[];
}

export interface Findings {
  target: ExplainTarget;
  /** The workload that it belongs to. */
  root: Root;
  /** It no longer exists; its name shows which workload it belonged to. */
  isGone: boolean;
  seen: readonly SeenObject[];
  /** The workload's own incident first, then shared causes. */
  cases: readonly [ExplainedCase, ...ExplainedCase[]];
  notices: readonly Notice[];
  /** Kinds that the person who asks may not list. */
  unread: readonly Kind[];
  /** True if the cluster knows tapfix's resources. */
  isInstalled: boolean;
}
