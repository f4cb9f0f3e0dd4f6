import { ifForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { obj, specIn, timeMs } from '../kube/raw.ts';
import type { Kind } from '../kube/resources.ts';
import { configMapsOf, lastWriterOf } from './changed.ts';
import type { Workload } from './workload.ts';

/*
 * Finds what changed lately around the pods of a workload: what may reach them, and what they read. The times come from the
 * live objects (managedFields, creation), never from the text of an Event.
 */

export interface NearChange {
  atMs: number;
  /** "NetworkPolicy deny-all created (kubectl)" */
  text: string;
  /** By its selector it is about these very pods, and not only about others in the namespace. */
  isTheirs: boolean;
}

export interface Near {
  /** Newest first. */
  changes: NearChange[];
  /** The kinds that may not be read: what changed in them is not known. */
  unread: string[];
}

/** Changes that are older are not the reason for a trouble of now. */
const latelyMs = 3_600_000;
const mostRead = 5;

/** A policy for all pods of the namespace has an empty selector. */
function selects(selector: unknown, labels: Readonly<Record<string, unknown>>): boolean {
  const { matchLabels, matchExpressions } = obj(selector);
  if (Array.isArray(matchExpressions) && matchExpressions.length > 0) return false;
  return Object.entries(obj(matchLabels)).every(([key, value]) => labels[key] === value);
}

/** The last change by a person or a tool; a controller that keeps a status is not one. */
function changeOf(object: KubeObject, kind: string, fields: readonly string[], isTheirs: boolean): NearChange {
  const createdAtMs = timeMs(object.metadata.creationTimestamp);
  const [writer] = fields.flatMap((field) => lastWriterOf(object, [field]) ?? []).sort((a, b) => b.atMs - a.atMs);
  const by = writer ? ` (${writer.by})` : '';
  const what = writer && writer.atMs > createdAtMs + 1_000 ? 'edited' : 'created';
  return {
    atMs: Math.max(writer?.atMs ?? 0, createdAtMs),
    text: `${kind} ${object.metadata.name} ${what}${by}`,
    isTheirs,
  };
}

async function readAll(reader: Reader, namespace: string, kind: Kind): Promise<KubeObject[] | 'forbidden'> {
  return reader.list<KubeObject>(kind, namespace).catch(ifForbidden('forbidden' as const));
}

/**
 * Changes of the last hour near a workload, since it was born as it is now: it was well with older ones, or never was. A
 * policy or Service of other pods counts as well, because these pods may need those.
 */
export async function readNear(reader: Reader, { object }: Workload, bornMs: number, nowMs: number): Promise<Near> {
  const { namespace = '' } = object.metadata;
  const labels = obj(obj(obj(specIn(object)['template'])['metadata'])['labels']);
  const names = configMapsOf(object).slice(0, mostRead);
  const [policies, services, ...configs] = await Promise.all([
    readAll(reader, namespace, 'NetworkPolicy'),
    readAll(reader, namespace, 'Service'),
    ...names.map((name) =>
      reader.get<KubeObject>({ kind: 'ConfigMap', namespace, name }).catch(ifForbidden('forbidden' as const)),
    ),
  ]);
  const changes = [
    ...(policies === 'forbidden' ? [] : policies).map((one) =>
      changeOf(one, 'NetworkPolicy', ['spec'], selects(specIn(one)['podSelector'], labels)),
    ),
    ...(services === 'forbidden' ? [] : services).map((one) =>
      changeOf(one, 'Service', ['spec'], selects({ matchLabels: specIn(one)['selector'] }, labels)),
    ),
    ...configs.flatMap((one) =>
      one === undefined || one === 'forbidden' ? [] : [changeOf(one, 'ConfigMap', ['data', 'binaryData'], true)],
    ),
  ];
  return {
    changes: changes
      .filter(({ atMs }) => atMs > bornMs && nowMs - atMs <= latelyMs)
      .sort((a, b) => Number(b.isTheirs) - Number(a.isTheirs) || b.atMs - a.atMs),
    unread: [
      ...(policies === 'forbidden' ? ['NetworkPolicies'] : []),
      ...(services === 'forbidden' ? ['Services'] : []),
      ...(configs.includes('forbidden') ? ['ConfigMaps'] : []),
    ],
  };
}
