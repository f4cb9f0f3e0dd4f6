import { mostReplicas, scaleDeployment } from '../../actions/scale-deployment.ts';
import { readAutoscalerOf } from '../../diagnosis/autoscaler.ts';
import { lastScalerOf, readLastScaling, type Scaled, togetherMs } from '../../diagnosis/changed.ts';
import type { PodFacts } from '../../diagnosis/pods.ts';
import { timeMs } from '../../kube/raw.ts';
import { iso } from '../../lib/clock.ts';
import { counted } from '../../lib/text.ts';
import type { DeriveDeps } from '../derive.ts';
import { type Fix, isLiving, nothingSafe, type Scene } from '../scene.ts';

const recentlyMs = 3_600_000;
const scalable: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'ReplicaSet']);

/** A text about its last scaling, for the case that nothing is offered. */
function scaledInWords({ workload: { object } }: Scene, nowMs: number): string | undefined {
  const scaler = lastScalerOf(object);
  const isRecent =
    scaler && nowMs - scaler.atMs <= recentlyMs && scaler.atMs > timeMs(object.metadata.creationTimestamp) + 1_000;
  return isRecent ? `it was scaled at ${iso(scaler.atMs)}` : undefined;
}

const inWords = ({ from, to, atMs }: Scaled): string => `it was scaled ${from} → ${to} at ${iso(atMs)}`;

/** The pods of one scale-up are created within this time. */
const oneScalingMs = 30_000;

/** The pods with a node that were there before those that wait: as many there were before the scale-up, or more. */
function olderThan(waiting: readonly PodFacts[], placed: readonly PodFacts[]): number {
  const firstMs = Math.min(...waiting.map(({ createdAtMs }) => createdAtMs));
  return placed.filter(({ createdAtMs }) => createdAtMs < firstMs - oneScalingMs).length;
}

/** Why the scale-up is not the reason that its pods wait; undefined if it is. */
function notCausedBy({ from, to, atMs }: Scaled, { pods }: Scene, waiting: readonly PodFacts[]): string | undefined {
  const scaled = inWords({ from, to, atMs });
  if (from >= to) return `${scaled}, which was no scale-up`;
  const placed = pods.filter((pod) => isLiving(pod) && !waiting.includes(pod));
  if (waiting.length === 0) return `${scaled}, and no pod waits for a node at the moment`;
  if (waiting.some(({ pod }) => (pod.unscheduled?.sinceMs ?? 0) < atMs - togetherMs))
    return `${scaled}, but pods waited for a node before that`;
  if (placed.length < from) return `${scaled}, but fewer than ${from} of its pods have a node`;
  // How many there were before is the text of an Event, which anybody may write. Too small a number would stop pods that
  // the scale-up did not bring.
  const older = olderThan(waiting, placed);
  if (from < older) return `${scaled}, as an Event says, but ${older} of its pods are older than those that wait`;
  if (from === 0) return `${scaled}: back would be none at all`;
  if (from > mostReplicas) return `${scaled}, and ${mostReplicas} are the most that tapfix sets`;
  return undefined;
}

/**
 * Back to the earlier number, if a recent scale-up brought pods that find no node, and nothing else sets the replicas.
 */
export async function scaleFix(scene: Scene, waiting: readonly PodFacts[], { nowMs }: DeriveDeps): Promise<Fix> {
  const { workload, reader } = scene;
  const { kind = '', metadata } = workload.object;
  if (!scalable.has(kind)) return { refused: nothingSafe };
  const { name, uid, namespace = '' } = metadata;
  const last = await readLastScaling(reader, workload, nowMs);
  const scaled = last ? inWords(last) : scaledInWords(scene, nowMs);
  if (await readAutoscalerOf(reader, namespace, { kind, name }))
    return { refused: scaled ? `${scaled}, and an autoscaler owns the replicas` : 'autoscaled' };
  if (kind !== 'Deployment')
    return { refused: scaled ? `${scaled}, and tapfix scales only Deployments` : 'no recent scale-up' };
  if (!last)
    return { refused: scaled ? `${scaled}, but it is not known that this was a scale-up` : 'no recent scale-up' };
  const refused = notCausedBy(last, scene, waiting);
  if (refused) return { refused };
  const by = last.by ? ` (${last.by})` : '';
  const waits = `${counted(waiting.length, 'pod')} ${waiting.length === 1 ? 'has' : 'have'} found no node since`;
  return {
    action: scaleDeployment as never,
    params: { name, uid, replicas: last.from },
    why: `It was scaled ${last.from} → ${last.to} at ${iso(last.atMs)}${by}, and ${waits}; those that wait go first, those that run stay.`,
  };
}
