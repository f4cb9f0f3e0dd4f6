import {
  autoscalerTroubles,
  claimTroubles,
  type KnownClass,
  nodeTroubles,
  waitsForConsumer,
} from '../health/cluster.ts';
import { isDown } from '../health/impact.ts';
import { isFinished } from '../health/pod.ts';
import { type LiveHealth, summed, type Trouble } from '../health/trouble.ts';
import { gone } from '../health/workload-health.ts';
import { ifForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import type { Kind } from '../kube/resources.ts';
import {
  type ClaimView,
  type PodView,
  viewAutoscaler,
  viewClaim,
  viewNode,
  viewPod,
  viewStorageClass,
} from '../kube/views.ts';
import { listEvents } from './events.ts';
import type { HealthSubject } from './health.ts';
import { createSnapshot, everywhere, listWithin, workloadsOf } from './readers.ts';
import { readCounts } from './workload.ts';

const there: LiveHealth = { ...gone, gone: false };

/** In doubt it is neither healthy nor broken: nothing is reported, and nothing is over. */
const unreadable: LiveHealth = { ...there, healthy: false, why: 'it may not be read' };

const judged = (found: readonly Trouble[], nowMs: number, affected: string[] = []): LiveHealth => ({
  ...there,
  healthy: found.length === 0,
  why: found[0]?.message.slice(0, 512) ?? '',
  ...summed(found, nowMs),
  affected,
});

/** 'gone': it does not exist, or another object has its name. */
async function readNamed(reader: Reader, kind: Kind, { namespace, object }: HealthSubject) {
  const found = await reader
    .get<KubeObject>({ kind, ...(namespace && { namespace }), name: object.name })
    .catch(ifForbidden('unreadable'));
  if (found === 'unreadable') return found;
  return found && (!object.uid || found.metadata.uid === object.uid) ? found : 'gone';
}

/**
 * Its pods are down with it, whatever their containers reported last. How many of a workload's pods that leaves is not
 * read: a node that is down is critical by its class.
 */
export async function readNodeHealth(reader: Reader, subject: HealthSubject, nowMs: number): Promise<LiveHealth> {
  const found = await readNamed(reader, 'Node', { ...subject, namespace: '' });
  if (typeof found === 'string') return found === 'gone' ? gone : unreadable;
  const node = viewNode(found);
  const troubles = node ? nodeTroubles(node) : [];
  if (troubles.length === 0)
    return node?.ready?.status === 'True'
      ? there
      : { ...there, healthy: false, why: 'it has not said that it is ready' };
  const { reach = everywhere, object } = subject;
  const pods = await listWithin(reader, reach, 'Pod', `spec.nodeName=${object.name}`);
  return judged(troubles, nowMs, await workloadsOf(reader, living(pods)));
}

const living = (pods: readonly KubeObject[]): PodView[] =>
  pods.flatMap((pod) => viewPod(pod) ?? []).filter((pod) => !isFinished(pod));

/** As many as the record of an incident lists. */
const mostJudged = 50;
/** More than this many of one namespace are read from whole lists. */
const mostSingly = 3;

/** Whether one of these workloads ("shop/Deployment/api") wants pods and has none ready. */
async function hasOneDown(reader: Reader, affected: readonly string[]): Promise<boolean> {
  const parts = affected.slice(0, mostJudged).map((workload) => {
    const [namespace = '', kind = '', name = ''] = workload.split('/');
    return { namespace, kind, name };
  });
  for (const [namespace, own] of Map.groupBy(parts, (one) => one.namespace)) {
    const from = own.length > mostSingly ? createSnapshot(reader, namespace) : reader;
    for (const workload of own) {
      const counts = await readCounts(from, namespace, workload);
      if (counts && isDown(counts)) return true;
    }
  }
  return false;
}

async function readClass(reader: Reader, name: string): Promise<KnownClass> {
  const found = await reader.get<KubeObject>({ kind: 'StorageClass', name }).catch(ifForbidden('unreadable'));
  if (found === 'unreadable') return 'unknown';
  return (found && viewStorageClass(found)) ?? 'missing';
}

/** The workloads of the pods that mount one of these claims. A claim that no pod mounts is listed itself. */
async function waitingFor(reader: Reader, claims: readonly ClaimView[]): Promise<string[]> {
  const namespaces = [...new Set(claims.map(({ namespace }) => namespace))];
  const all = (await Promise.all(namespaces.map((namespace) => reader.list<KubeObject>('Pod', namespace)))).flat();
  const pods = living(all);
  const mounts = (pod: PodView, claim: ClaimView): boolean =>
    pod.namespace === claim.namespace && (pod.claims ?? []).includes(claim.name);
  const unused = claims.filter((claim) => !pods.some((pod) => mounts(pod, claim)));
  const used = await workloadsOf(
    reader,
    pods.filter((pod) => claims.some((claim) => mounts(pod, claim))),
  );
  return [...used, ...unused.map(({ namespace, name }) => `${namespace}/PersistentVolumeClaim/${name}`)];
}

/**
 * A class that does not exist, and the claims that name it. It is over when the class exists, or no claim asks for it.
 */
export async function readStorageClassHealth(
  reader: Reader,
  subject: HealthSubject,
  nowMs: number,
): Promise<LiveHealth> {
  const { reach = everywhere, object } = subject;
  const known = await readClass(reader, object.name);
  if (typeof known === 'object') return there;
  const all = (await listWithin(reader, reach, 'PersistentVolumeClaim')).flatMap((claim) => viewClaim(claim) ?? []);
  const claims = all.filter(
    ({ storageClass, phase, deleting }) => storageClass === object.name && phase === 'Pending' && !deleting,
  );
  if (claims.length === 0) return { ...there, ended: 'no claim asks for it any more' };
  const found = await Promise.all(claims.map((claim) => readClaimTroubles(reader, claim, known)));
  const blamed = found.flat().filter(({ cause }) => cause?.kind === 'StorageClass');
  if (blamed.length === 0) return unreadable;
  const [first] = blamed;
  const { cause: _, ...trouble } = first!;
  const affected = await waitingFor(reader, claims);
  return { ...judged([trouble], nowMs, affected), hasOneDown: await hasOneDown(reader, affected) };
}

const readClaimTroubles = async (reader: Reader, claim: ClaimView, known: KnownClass): Promise<Trouble[]> =>
  claimTroubles(
    claim,
    known,
    known === 'missing' ? [] : await listEvents(reader, claim.namespace, `involvedObject.uid=${claim.uid}`),
  );

export async function readClaimHealth(reader: Reader, subject: HealthSubject, nowMs: number): Promise<LiveHealth> {
  const found = await readNamed(reader, 'PersistentVolumeClaim', subject);
  if (typeof found === 'string') return found === 'gone' ? gone : unreadable;
  const claim = viewClaim(found);
  if (!claim) return unreadable;
  if (claim.phase === 'Bound') return there;
  const known = claim.storageClass ? await readClass(reader, claim.storageClass) : 'unknown';
  const troubles = await readClaimTroubles(reader, claim, known);
  if (troubles.length === 0) {
    if (waitsForConsumer(claim, known)) return { ...there, ended: 'it waits for a pod that wants it' };
    return { ...there, healthy: false, why: 'it is not bound yet' };
  }
  const affected = await waitingFor(reader, [claim]);
  const names = affected.map((workload) => workload.slice(workload.indexOf('/') + 1));
  return { ...judged(troubles, nowMs, names), hasOneDown: await hasOneDown(reader, affected) };
}

export async function readAutoscalerHealth(reader: Reader, subject: HealthSubject, nowMs: number): Promise<LiveHealth> {
  const found = await readNamed(reader, 'HorizontalPodAutoscaler', subject);
  if (typeof found === 'string') return found === 'gone' ? gone : unreadable;
  const view = viewAutoscaler(found);
  if (!view?.ableToScale) return { ...there, healthy: false, why: 'it has not said anything yet' };
  const { scalingActive } = view;
  const isOff = scalingActive?.reason === 'ScalingDisabled';
  return isOff ? { ...there, ended: 'its target was scaled to zero' } : judged(autoscalerTroubles(view), nowMs);
}
