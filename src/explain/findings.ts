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

/** What somebody asks about. Without a namespace: something that has none. */
export interface ExplainTarget {
  namespace: string;
  kind: Kind;
  name: string;
}

/** What an incident can be about, or belong to. The other names are kubectl's. */
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
/** As the API server would have it; it is part of a path. */
const isName = (word: string): boolean => /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(word);

/** Pure. "shop/Deployment/checkout", or of what has no namespace "Node/worker-3". */
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

/** A sighting that has to do with what was asked, and what the filter says of it. */
export interface SeenObject extends SurveyedSignal {
  judged: Judged;
}

/** One incident that it is, or would be, part of. */
export interface ExplainedCase {
  key: string;
  object: Root;
  /** What all that was seen and kept amounts to; none when nothing was. */
  incident?: Incident;
  live: LiveHealth;
  /** Of the classes that were seen those that a fresh reading confirms, the most specific first. */
  trueNow: readonly SeenClass[];
  /** Key of the open shared cause that explains it. */
  symptomOf?: string;
  /** What the live objects say against telling anybody. */
  whyNot?: SignalOutcome;
  /** What would be recorded if it was told now. */
  draft?: RemediationSpec;
  /** Of this key, newest first. */
  fixes: readonly Remediation[];
}

export interface Findings {
  target: ExplainTarget;
  /** The workload that it belongs to. */
  root: Root;
  /** It is not there any more; whose it was its name tells. */
  isGone: boolean;
  seen: readonly SeenObject[];
  /** The workload's own first, then shared causes. */
  cases: readonly [ExplainedCase, ...ExplainedCase[]];
  notices: readonly Notice[];
  /** Kinds that may not be listed by whoever asks. */
  unread: readonly Kind[];
  /** The cluster knows tapfix's resources. */
  isInstalled: boolean;
}
