import type { KubeObject } from '../kube/api.ts';
import { obj, str, timeMs } from '../kube/raw.ts';
import type { EventView } from '../kube/views.ts';
import { readEvent } from '../signals/detect.ts';

/** One JSON object of a file, and the line where it begins. */
interface Recorded {
  value: unknown;
  line: number;
}

interface Read {
  records: Recorded[];
  /** Lines where something begins that is not a JSON object. */
  unreadable: number[];
}

/**
 * Pure. The objects in a text, in whichever form: one per line, a list, a Kubernetes List, or one after the other. A
 * broken object does not affect the others: each object is found by its braces, and parsed alone.
 */
export function readObjects(text: string): Read {
  const clean = text.replace(/^\uFEFF/, '');
  if (isOneALine(clean)) return readLines(clean);
  const start = listStart(clean);
  return readAll(clean, start ?? 0, start !== undefined);
}

/** Whether most lines look like a whole object. */
function isOneALine(text: string): boolean {
  const lines = text.split('\n', 2_000).filter((line) => line.trim());
  const whole = lines.filter((line) => /^\s*\{.*\}\s*$/.test(line));
  return whole.length * 2 > lines.length && whole.length > 0 && !isList(whole[0]!);
}

/** A whole List may be on one line. */
const isList = (line: string): boolean => listStart(line) !== undefined;

function readLines(text: string): Read {
  const read: Read = { records: [], unreadable: [] };
  for (const [index, line] of text.split('\n').entries()) if (line.trim()) add(read, line, index + 1);
  return read;
}

function add(read: Read, text: string, line: number): void {
  const value = parsed(text);
  if (typeof value === 'object' && value !== null) read.records.push({ value, line });
  else read.unreadable.push(line);
}

/** undefined: the text is broken, or nested too deeply. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The position after the bracket of the list: of `[...]`, or of the "items" of an object that is a List. */
function listStart(text: string): number | undefined {
  const [lead = ''] = /^\s*/.exec(text) ?? [];
  if (text[lead.length] === '[') return lead.length + 1;
  if (text[lead.length] !== '{') return undefined;
  const items = /"items"\s*:\s*\[/g;
  for (let found = items.exec(text); found; found = items.exec(text)) {
    const before = text.slice(lead.length, found.index);
    if (depthOf(before) === 1) return found.index + found[0].length;
    if (found.index > 100_000) return undefined; // the part of a List before its items is short
  }
  return undefined;
}

function depthOf(text: string): number {
  let depth = 0;
  const outside = text.replace(/"(?:[^"\\\n]|\\.)*"/g, '');
  for (const letter of outside)
    depth += letter === '{' || letter === '[' ? 1 : letter === '}' || letter === ']' ? -1 : 0;
  return depth;
}

function readAll(text: string, from: number, isInList: boolean): Read {
  const read: Read = { records: [], unreadable: [] };
  let line = newlines(text, 0, from) + 1;
  let at = from;
  while (at < text.length) {
    const letter = text[at]!;
    if (isInList && letter === ']') break;
    const end = letter === '{' ? objectEnd(text, at) : /[\s,]/.test(letter) ? at + 1 : junkEnd(text, at);
    if (letter === '{') add(read, text.slice(at, end), line);
    else if (!/[\s,]/.test(letter)) read.unreadable.push(line);
    line += newlines(text, at, end);
    at = end;
  }
  return read;
}

/**
 * The position after the closing brace, or the end of the text if there is none. A string that its line does not close
 * is taken to end with that line.
 */
function objectEnd(text: string, from: number): number {
  let depth = 0;
  let isString = false;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isString) {
      if (code === backslash) at += 1;
      else if (code === quote || code === newline) isString = false;
    } else if (code === quote) isString = true;
    else if (code === open) depth += 1;
    else if (code === close && --depth === 0) return at + 1;
  }
  return text.length;
}
const [backslash, quote, newline, open, close] = [...'\\"\n{}'].map((letter) => letter.charCodeAt(0));

function junkEnd(text: string, from: number): number {
  const rest = /[,{\]\n]/g;
  rest.lastIndex = from + 1;
  return rest.exec(text)?.index ?? text.length;
}

function newlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** One event of the recording. */
export interface RecordedEvent {
  event: EventView;
  /** When it was first and last reported, by its own timestamps. */
  firstMs: number;
  lastMs: number;
  line: number;
}

export interface Recording {
  events: RecordedEvent[];
  /** Lines of entries that are not events, or have no plausible time. */
  unreadable: number[];
}

/** Times outside are not plausible: before Kubernetes existed, or later than anybody will read this. */
const [earliestMs, latestMs] = [Date.UTC(2014, 5), Date.UTC(2100, 0)];
const isPlausible = (ms: number): boolean => ms >= earliestMs && ms < latestMs;

/** Pure. */
export function recordingOf(records: readonly Recorded[]): Recording {
  const recording: Recording = { events: [], unreadable: [] };
  for (const { value, line } of records) {
    const raw = unwrapped(value);
    const event = readEvent(raw as unknown as KubeObject);
    const times = timesIn(raw).filter(isPlausible);
    if (!event || times.length === 0) recording.unreadable.push(line);
    else recording.events.push({ event, firstMs: Math.min(...times), lastMs: Math.max(...times), line });
  }
  return recording;
}

/** Unwraps the form that `kubectl get --watch --output-watch-events` writes. */
function unwrapped(value: unknown): Record<string, unknown> {
  const raw = obj(value);
  return /^(ADDED|MODIFIED|DELETED)$/.test(str(raw['type'])) && raw['object'] ? obj(raw['object']) : raw;
}

const timesIn = (raw: Record<string, unknown>): number[] =>
  [
    raw['firstTimestamp'],
    raw['lastTimestamp'],
    raw['eventTime'],
    obj(raw['series'])['lastObservedTime'],
    obj(raw['metadata'])['creationTimestamp'],
  ].map(timeMs);
