import { closest } from '../config/did-you-mean.ts';
import type { Kind } from '../kube/resources.ts';
import { resources } from '../kube/resources.ts';
import { UserError } from '../lib/errors.ts';

/** What somebody asks about. Without a namespace: something that has none. */
export interface Target {
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
export function parseTarget(text: string): Target {
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
export const spoken = ({ namespace, kind, name }: Target): string =>
  `${kind} ${name}${namespace ? ` in ${namespace}` : ''}`;
