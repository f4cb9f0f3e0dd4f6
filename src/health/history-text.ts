import { z } from 'zod';
import { mostCharacters } from '../kube/history-maps.ts';
import type { RunningRevision, SeenRevision } from './history.ts';

/*
 * What was seen of revisions, as text: one JSON line each, in as many texts as there are shards. One text is the content
 * of one ConfigMap, so it must stay well below 1 MiB.
 */

/** By its uid: a rollout changes one or two of the texts, and not all. */
export function shardOf(uid: string, shards: number): number {
  let hash = 0x811c9dc5; // FNV-1a
  for (const character of uid) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193);
  return (hash >>> 0) % shards;
}

const longestLine = 200;
/** A clock that is ahead of ours by less is not wrong. */
const mostAheadMs = 300_000;
/** Nothing runs for longer, and sums of such times are exact. */
const longestMs = 10 * 365 * 86_400_000;

const span = z.int().min(0).max(longestMs);
const lineSchema = z
  .tuple([
    z.string().regex(/^[\w-]{1,64}$/),
    span, // whole
    span, // serving
    span, // broken after
    z.int().min(0).max(1_000_000), // wanted when it was short, or 0
    z.int().min(0), // seen
  ])
  // Whoever has all pods has half of them, and what broke was whole before.
  .refine(([, whole, serving, brokenAfter]) => brokenAfter <= whole && whole <= serving);

const lineOf = (seen: SeenRevision): string =>
  JSON.stringify([seen.uid, seen.wholeMs, seen.servingMs, seen.brokenAfterMs, seen.shortAt ?? 0, seen.seenMs]);

/** The text, and what is in it. If there is too much, what ran longest ago is left out: it is the least likely to be gone back to. */
export function encodeSeen<S extends SeenRevision>(
  seen: readonly S[],
  most = mostCharacters,
): { text: string; kept: S[] } {
  const lines: string[] = [];
  const kept: S[] = [];
  let length = 0;
  for (const one of seen.toSorted((a, b) => b.seenMs - a.seenMs)) {
    const line = `${lineOf(one)}\n`;
    length += line.length;
    if (length > most) break;
    lines.push(line);
    kept.push(one);
  }
  return { text: lines.join(''), kept };
}

function parseLine(line: string): SeenRevision | undefined {
  if (line.length > longestLine) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { data } = lineSchema.safeParse(value);
  if (!data) return undefined;
  const [uid, wholeMs, servingMs, brokenAfterMs, shortAt, seenMs] = data;
  return {
    uid,
    wholeMs,
    servingMs,
    brokenAfterMs,
    ...(shortAt > 0 && { shortAt }),
    seenMs,
  };
}

/** Reads a text. Lines that cannot be believed are only counted: somebody else wrote those, or wrote in them. */
export function decodeSeen(
  text: string,
  { nowMs, belongs }: { nowMs: number; belongs(uid: string): boolean },
): { seen: SeenRevision[]; dropped: number } {
  if (text.length > mostCharacters) return { seen: [], dropped: 1 };
  const lines = text.split('\n').filter((line) => line !== '');
  const seen = lines.flatMap((line) => {
    const one = parseLine(line);
    return one && one.seenMs <= nowMs + mostAheadMs && belongs(one.uid) ? [one] : [];
  });
  return { seen, dropped: lines.length - seen.length };
}

/** From here on a longer time makes no difference to what is offered. */
const longEnoughMs = 86_400_000;

const hasGrown = (beforeMs: number, nowMs: number): boolean =>
  nowMs > beforeMs && Math.min(nowMs, longEnoughMs) >= Math.min(2 * beforeMs, longEnoughMs) && beforeMs < longEnoughMs;

/**
 * Whether a revision is to be written (again): as soon as it counts as healthy, for an undo rests on that. The times of one that runs always grow; they are written when they have
 * doubled, so that a kill loses half of them at most, and a quiet cluster writes next to nothing.
 */
export function isWorthWriting(before: SeenRevision | undefined, now: RunningRevision, stableForMs: number): boolean {
  const isStable = now.wholeMs >= stableForMs;
  if (!before) return isStable || !now.isRunning || now.brokenAfterMs > 0;
  if (isStable && before.wholeMs < stableForMs) return true;
  if (before.shortAt !== now.shortAt) return true;
  if (before.brokenAfterMs !== now.brokenAfterMs) return true;
  const pairs = [
    [before.wholeMs, now.wholeMs],
    [before.servingMs, now.servingMs],
  ] as const;
  return pairs.some(([beforeMs, nowMs]) => (now.isRunning ? hasGrown(beforeMs, nowMs) : beforeMs !== nowMs));
}
