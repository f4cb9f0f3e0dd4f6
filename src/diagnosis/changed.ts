import type { KubeObject, Reader } from '../kube/api.ts';
import { num, specIn, str } from '../kube/raw.ts';
import { iso } from '../lib/clock.ts';
import { cut } from '../lib/cut.ts';
import { readConfigEdits } from './config-edits.ts';
import { type Past, readControllerRevisions } from './controller-revisions.ts';
import { readLastScaling, readScalings, type Scaling, togetherMs } from './scaled.ts';
import { templateChanges } from './words/template.ts';
import type { Workload } from './workload.ts';
import { lastEditorOf, lastScalerOf, lastWriterOf, wasLater } from './writers.ts';

/** What was changed lately of a workload, and of the ConfigMaps that it needs where they may be read. */
export async function lastChanges(reader: Reader, workload: Workload, nowMs: number): Promise<string[]> {
  const { object, revisions } = workload;
  const known = revisions.map(({ view, template }) => ({
    revision: view.revision,
    createdAtMs: view.createdAtMs,
    template,
  }));
  const pasts = known.length > 0 ? known : await readControllerRevisions(reader, object);
  const rollout = rolloutOf(object, pasts);
  const scale = await scaleOf(reader, workload, nowMs);
  const configs = await readConfigEdits(reader, object);
  return inWords([rollout, scale, editOf(object, [rollout, scale]), ...configs], nowMs);
}

export interface Entry {
  atMs: number;
  text: string;
}

const lately = 7 * 86_400_000;
const mostNamed = 4;

/** Pure. Newest first; what is older than a week only if there is nothing newer. */
export function inWords(found: readonly (Entry | undefined)[], nowMs: number): string[] {
  const entries = found.filter((entry) => entry !== undefined).sort((a, b) => b.atMs - a.atMs);
  const recent = entries.filter(({ atMs }) => nowMs - atMs <= lately);
  const named = recent.length > 0 ? recent.slice(0, mostNamed) : entries.slice(0, 1);
  return named.map(({ atMs, text }) => cut(`${iso(atMs)} ${text}`, 512));
}

/** Between the change of a workload and its new revision lies one pass of a controller. */
const onePassMs = 120_000;

/** Pure. "rollout 42 (kubectl-set): app image 1.41 → 1.42"; undefined when there was only ever one revision. */
export function rolloutOf(object: KubeObject, [newest, previous]: readonly Past[]): Entry | undefined {
  if (!newest || !previous) return undefined;
  const writer = lastWriterOf(object, ['spec', 'template']);
  // An undo takes up an old revision again: when that was created says nothing about this rollout.
  const isTakenUp = newest.createdAtMs <= previous.createdAtMs;
  const isItsWriter = writer && (isTakenUp || Math.abs(writer.atMs - newest.createdAtMs) <= onePassMs);
  const atMs = (isTakenUp && writer?.atMs) || newest.createdAtMs;
  const changes = templateChanges(previous.template, newest.template);
  const what = changes.length > 0 ? changes.join(', ') : 'pod template changed';
  return { atMs, text: `rollout ${newest.revision}${isItsWriter ? ` (${writer.by})` : ''}: ${what}` };
}

/** "scaled 2 → 6 (kubectl)"; how many there were before only its events know, for an hour. */
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

/** Pure. Who changed anything else of it; whoever is named already is not named twice. */
export function editOf(object: KubeObject, named: readonly (Entry | undefined)[]): Entry | undefined {
  const editor = lastEditorOf(object);
  if (!editor || !wasLater(editor, object)) return undefined;
  const isSaid = named.some((entry) => entry && Math.abs(entry.atMs - editor.atMs) <= onePassMs);
  return isSaid ? undefined : { atMs: editor.atMs, text: `${str(object.kind) || 'object'} edited (${editor.by})` };
}
