import type { Refusal, Target } from '../actions/action.ts';
import { no } from '../actions/action.ts';
import { targetGone } from '../actions/marked.ts';
import { readOwners } from '../actions/owners.ts';
import type { ParsedAction } from '../actions/table.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import type { Remediation } from '../kube/remediation.ts';

interface Named {
  kind: string;
  name: string;
  uid: string;
}

/**
 * Whether it is still true, and whether it recovered, is read of what the incident names: it must be what is changed, or,
 * of a pod, what the pod belongs to by its owner references.
 */
export async function wrongTarget(
  { metadata, spec }: Remediation,
  parsed: ParsedAction | Refusal,
  reader: Reader,
): Promise<Refusal | undefined> {
  if ('ok' in parsed) return undefined;
  const { object } = spec.incident;
  const target = parsed.action.target(parsed.params);
  if (isMeant(object, target)) return undefined;
  const owners = target.kind === 'Pod' ? await readPodOwners(target, metadata.namespace ?? '', reader) : [];
  if ('ok' in owners) return owners;
  if (owners.some((owner) => isMeant(object, owner))) return undefined;
  const say = `the incident is about ${object.kind} ${object.name}, the fix would change ${target.kind} ${target.name}`;
  return no('WrongTarget', say);
}

const isMeant = (object: Named, { kind, name, uid }: Named): boolean =>
  kind === object.kind && name === object.name && (object.uid === '' || uid === object.uid);

async function readPodOwners(target: Target, namespace: string, reader: Reader): Promise<Named[] | Refusal> {
  const pod = await reader.get<KubeObject>({ kind: 'Pod', namespace, name: target.name });
  return pod?.metadata.uid === target.uid ? readOwners(reader, namespace, pod) : targetGone(target);
}
