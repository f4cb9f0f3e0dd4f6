import { ifForbidden, type KubeObject, type ManagedFields, type Reader } from '../kube/api.ts';
import { num, obj, specIn, str, timeMs } from '../kube/raw.ts';
import type { PodTemplate } from '../kube/views.ts';
import { iso } from '../lib/clock.ts';
import { sameValue } from '../lib/hash.ts';
import { cut } from '../lib/text.ts';
import { readEvents } from './events.ts';
import { referencesIn } from './words/references.ts';
import { byHand, templateChanges } from './words/template-changes.ts';
import { type Past, readControllerRevisions, type Workload } from './workload.ts';

/*
 * Finds who changed what, and when, from the API server's managedFields. They record when a manager last changed any of
 * its fields.
 */

interface Writer {
  by: string;
  atMs: number;
}

const fieldsOf = (entry: ManagedFields, path: readonly string[]): unknown =>
  path.reduce<unknown>((node, field) => obj(node)[`f:${field}`], entry.fieldsV1);

const owns = (entry: ManagedFields, path: readonly string[]): boolean => fieldsOf(entry, path) !== undefined;

function newestOf({ metadata }: KubeObject, isMeant: (entry: ManagedFields) => boolean): ManagedFields | undefined {
  const all = Array.isArray(metadata.managedFields) ? metadata.managedFields : [];
  return all.filter((entry) => entry.manager && isMeant(entry)).sort((a, b) => timeMs(b.time) - timeMs(a.time))[0];
}

const writerIn = (entry: ManagedFields | undefined): Writer | undefined =>
  entry && { by: entry.manager ?? '', atMs: timeMs(entry.time) };

/**
 * The manager that last wrote this part of the object, and when. A manager that only annotated or scaled it, or wrote
 * its status, does not count.
 */
export const lastWriterOf = (object: KubeObject, path: readonly string[]): Writer | undefined =>
  writerIn(newestOf(object, (entry) => !entry.subresource && owns(entry, path)));

/**
 * The manager that scaled it last. A manager that also owns the pod template (an apply of the whole object) may have
 * changed anything else at that time: then it is unknown.
 */
export function lastScalerOf(object: KubeObject): Writer | undefined {
  const entry = newestOf(object, (one) => one.subresource !== 'status' && owns(one, ['spec', 'replicas']));
  if (!entry || owns(entry, ['spec', 'template'])) return undefined;
  const isAutoscaler = entry.manager === 'kube-controller-manager' && entry.subresource === 'scale';
  return { by: isAutoscaler ? 'an autoscaler' : (entry.manager ?? ''), atMs: timeMs(entry.time) };
}

/** The manager that last changed anything else in the spec. */
export function lastEditorOf(object: KubeObject): Writer | undefined {
  const isEdit = (entry: ManagedFields): boolean =>
    !entry.subresource &&
    Object.keys(obj(fieldsOf(entry, ['spec']))).some((field) => field !== 'f:template' && field !== 'f:replicas');
  return writerIn(newestOf(object, isEdit));
}

/** managedFields have whole seconds, and the creator of an object is not a later editor of it. */
const sameMomentMs = 1_000;

const wasLater = ({ atMs }: Writer, { metadata }: KubeObject): boolean =>
  atMs > timeMs(metadata.creationTimestamp) + sameMomentMs;

/** A scaling of a ReplicaSet, from the Events of its Deployment, newest first. Events are kept for an hour. */
interface Scaling {
  set: string;
  from: number;
  to: number;
  atMs: number;
}

/** "from 2 to 6"; until 1.28 it was "to 6 from 2". */
const words = /^Scaled (?:up|down) replica set (\S+) (?:from (\d+) to (\d+)|to (\d+) from (\d+))$/;

async function readScalings(reader: Reader, { metadata }: KubeObject): Promise<Scaling[]> {
  const events = await readEvents(reader, metadata.namespace ?? '', ['ScalingReplicaSet'], [metadata.uid]);
  return events.flatMap(({ message, lastSeenMs: atMs }) => {
    const [, set = '', from, to, to28, from28] = words.exec(message) ?? [];
    return set ? [{ set, from: Number(from ?? from28), to: Number(to ?? to28), atMs }] : [];
  });
}

/** managedFields and Events come from two processes, and have whole seconds. */
export const togetherMs = 5_000;

export interface Scaled {
  from: number;
  to: number;
  atMs: number;
  /** The manager that did it, if managedFields say so. */
  by?: string;
}

const recentlyMs = 3_600_000;

/**
 * The scaling that gave a Deployment its current size, if that was within the hour. managedFields show who set the
 * replicas, Events show how many there were before. For `kubectl scale` managedFields have no time, and an apply of the
 * whole object leaves no entry of its own. Then only the Events show when it was, unless they also name another
 * ReplicaSet, because a rollout scales too.
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
    return wasLater(scaler, object) && Math.abs(scaler.atMs - last.atMs) <= togetherMs ? found : undefined;
  return recent.some(({ set }) => set !== newest) || isLast(last, recent) ? undefined : found;
}

/** The oldest scaling, from 0, is the creation of the Deployment. */
const isLast = (one: Scaling, all: readonly Scaling[]): boolean => one.from === 0 && all.at(-1) === one;

const mostRead = 5;

/**
 * Reads who edited the ConfigMaps that its pods need, and when; their content is not read. tapfix is installed without
 * the right to read them (ADR 8): then the first refusal ends this, and the card only has less to show.
 */
async function readConfigEdits(reader: Reader, object: KubeObject): Promise<Entry[]> {
  const { namespace = '' } = object.metadata;
  const names = configMapsOf(object).slice(0, mostRead);
  const found: Entry[] = [];
  for (const name of names) {
    const config = await reader.get<KubeObject>({ kind: 'ConfigMap', namespace, name }).catch(ifForbidden('forbidden'));
    if (config === 'forbidden') break;
    const edit = config && editOfConfig(config);
    if (edit) found.push(edit);
  }
  return found;
}

/** The names of the ConfigMaps in a workload's pod template, a CronJob's, or a pod itself. */
export function configMapsOf(object: KubeObject): string[] {
  const spec = specIn(object);
  const job = obj(obj(spec['jobTemplate'])['spec']);
  const templates = [obj(spec['template']), obj(job['template']), { spec }] as PodTemplate[];
  const needed = templates.flatMap(referencesIn).filter(({ kind }) => kind === 'ConfigMap');
  return [...new Set(needed.map(({ name }) => name))];
}

function editOfConfig(config: KubeObject): Entry | undefined {
  const writers = ['data', 'binaryData'].map((field) => lastWriterOf(config, [field]));
  const [writer] = writers.filter((one) => one !== undefined).sort((a, b) => b.atMs - a.atMs);
  if (!writer || !wasLater(writer, config)) return undefined;
  return { atMs: writer.atMs, text: `ConfigMap ${config.metadata.name} edited (${writer.by})` };
}

/**
 * Recent changes of a workload, and of the ConfigMaps that it needs if they may be read. `failing`: the containers whose
 * changes matter most.
 */
export async function lastChanges(
  reader: Reader,
  workload: Workload,
  nowMs: number,
  failing: readonly string[] = [],
): Promise<string[]> {
  const { object, revisions } = workload;
  const known = revisions.map(({ view, template }) => ({
    revision: view.revision,
    createdAtMs: view.createdAtMs,
    template,
  }));
  const pasts = known.length > 0 ? known : await readControllerRevisions(reader, object);
  const rollout = rolloutOf(object, pasts, failing);
  // Whoever changes something and then restarts it must not hide what was changed.
  const beforeRestart = isRestart(pasts) ? rolloutOf(object, pasts.slice(1), failing) : undefined;
  const [scale, configs] = await Promise.all([scaleOf(reader, workload, nowMs), readConfigEdits(reader, object)]);
  return inWords([rollout, beforeRestart, scale, editOf(object, [rollout, scale]), ...configs], nowMs);
}

interface Entry {
  atMs: number;
  text: string;
}

const lately = 7 * 86_400_000;
const mostNamed = 4;

/** Pure. Newest first. A change older than a week is shown only if there is nothing newer. */
export function inWords(found: readonly (Entry | undefined)[], nowMs: number): string[] {
  const entries = found.filter((entry) => entry !== undefined).sort((a, b) => b.atMs - a.atMs);
  const recent = entries.filter(({ atMs }) => nowMs - atMs <= lately);
  const named = recent.length > 0 ? recent.slice(0, mostNamed) : entries.slice(0, 1);
  return named.map(({ atMs, text }) => cut(`${iso(atMs)} ${text}`, 512));
}

/** One pass of a controller lies between the change of a workload and its new revision. */
const onePassMs = 120_000;

/** Pure. "rollout 42 (kubectl-set): app image 1.41 → 1.42"; undefined if there was only ever one revision. */
export function rolloutOf(
  object: KubeObject,
  [newest, previous]: readonly Past[],
  failing: readonly string[] = [],
): Entry | undefined {
  if (!newest || !previous) return undefined;
  const writer = lastWriterOf(object, ['spec', 'template']);
  // An undo reuses an old revision: the time of its creation says nothing about this rollout.
  const isTakenUp = newest.createdAtMs <= previous.createdAtMs;
  const isItsWriter = writer && (isTakenUp || Math.abs(writer.atMs - newest.createdAtMs) <= onePassMs);
  const atMs = (isTakenUp && writer?.atMs) || newest.createdAtMs;
  const changes = templateChanges(previous.template, newest.template, failing);
  const what = changes.length > 0 ? changes.join(', ') : 'pod template changed';
  return { atMs, text: `rollout ${newest.revision}${isItsWriter ? ` (${writer.by})` : ''}: ${what}` };
}

const isRestart = ([newest, previous]: readonly Past[]): boolean =>
  newest !== undefined &&
  previous !== undefined &&
  sameValue(templateChanges(previous.template, newest.template), [byHand]);

/** "scaled 2 → 6 (kubectl)"; only its Events know how many there were before, for an hour. */
async function scaleOf(reader: Reader, workload: Workload, nowMs: number): Promise<Entry | undefined> {
  const { object } = workload;
  const scaler = lastScalerOf(object);
  if (!scaler || scaler.atMs === 0) {
    const last = await readLastScaling(reader, workload, nowMs);
    return last && { atMs: last.atMs, text: `scaled ${last.from} → ${last.to}${last.by ? ` (${last.by})` : ''}` };
  }
  if (!wasLater(scaler, object)) return undefined;
  const to = num(specIn(object)['replicas'], 1);
  const isIt = (one: Scaling): boolean => one.to === to && Math.abs(one.atMs - scaler.atMs) <= togetherMs;
  const from = (await readScalings(reader, object)).find(isIt)?.from;
  return { atMs: scaler.atMs, text: `scaled ${from === undefined ? `to ${to}` : `${from} → ${to}`} (${scaler.by})` };
}

/** Pure. The last change of anything else in it, and by whom. A change that is already listed is not listed twice. */
export function editOf(object: KubeObject, named: readonly (Entry | undefined)[]): Entry | undefined {
  const editor = lastEditorOf(object);
  if (!editor || !wasLater(editor, object)) return undefined;
  const isSaid = named.some((entry) => entry && Math.abs(entry.atMs - editor.atMs) <= onePassMs);
  return isSaid ? undefined : { atMs: editor.atMs, text: `${str(object.kind) || 'object'} edited (${editor.by})` };
}
