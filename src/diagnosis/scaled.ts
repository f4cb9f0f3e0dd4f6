import type { KubeObject, Reader } from '../kube/api.ts';
import { num, specIn } from '../kube/raw.ts';
import { timeMs } from '../kube/views.ts';
import { readEvents } from './events.ts';
import type { Workload } from './workload.ts';
import { lastScalerOf } from './writers.ts';

/** What the events of a Deployment say of the ReplicaSets that it scaled, newest first. They are kept for an hour. */
export interface Scaling {
  set: string;
  from: number;
  to: number;
  atMs: number;
}

/** "from 2 to 6"; until 1.28 it was "to 6 from 2". */
const words = /^Scaled (?:up|down) replica set (\S+) (?:from (\d+) to (\d+)|to (\d+) from (\d+))$/;

export async function readScalings(reader: Reader, { metadata }: KubeObject): Promise<Scaling[]> {
  const events = await readEvents(reader, metadata.namespace ?? '', ['ScalingReplicaSet'], [metadata.uid]);
  return events.flatMap(({ message, lastSeenMs: atMs }) => {
    const [, set = '', from, to, to28, from28] = words.exec(message) ?? [];
    return set ? [{ set, from: Number(from ?? from28), to: Number(to ?? to28), atMs }] : [];
  });
}

/** The API server's books and events are of two processes, and have whole seconds. */
export const togetherMs = 5_000;

export interface Scaled {
  from: number;
  to: number;
  atMs: number;
  /** Who did it, where the API server's books tell. */
  by?: string;
}

const recentlyMs = 3_600_000;

/**
 * The scaling that made a Deployment as large as it is now, if that was within the hour. The books tell who set the
 * replicas, the events how many there were before. Of `kubectl scale` the books have no time, and whoever applies the
 * whole object leaves no entry of his own: then the events alone tell when, unless they speak of another ReplicaSet as
 * well, for a rollout scales too.
 */
export async function readLastScaling(
  reader: Reader,
  { object, revisions }: Workload,
  nowMs: number,
): Promise<Scaled | undefined> {
  const to = num(specIn(object)['replicas'], 1);
  const newest = revisions[0]?.view.name;
  const recent = (await readScalings(reader, object)).filter(({ atMs }) => nowMs - atMs <= recentlyMs);
  const last = recent.find(({ set }) => set === newest);
  if (!last || last.to !== to) return undefined;
  const scaler = lastScalerOf(object);
  const found = { from: last.from, to, atMs: scaler?.atMs || last.atMs, ...(scaler && { by: scaler.by }) };
  if (scaler && scaler.atMs > 0)
    return isLater(scaler.atMs, object) && Math.abs(scaler.atMs - last.atMs) <= togetherMs ? found : undefined;
  return recent.some(({ set }) => set !== newest) || isLast(last, recent) ? undefined : found;
}

/** The first thing that is said of it is how it was made. */
const isLast = (one: Scaling, all: readonly Scaling[]): boolean => one.from === 0 && all.at(-1) === one;

const isLater = (atMs: number, { metadata }: KubeObject): boolean => atMs > timeMs(metadata.creationTimestamp) + 1_000;
