import type { Remediation } from '../../kube/remediation.ts';
import { nextSlot } from '../../lib/window.ts';
import { inOrder } from '../cards/head.ts';
import { type Address, chatKey, samePlace } from './route.ts';
import { intoStorms, newIncidents } from './storm.ts';
import {
  bootJoins,
  type GroupFacts,
  joins,
  type MessagePlan,
  type MessageStep,
  postableAtMs,
  postedBy,
  type Waiting,
  waitingByPlace,
} from './waiting.ts';

const minuteMs = 60_000;
/** How soon to look again whether an attempt succeeded. */
const outcomeMs = 1_000;

/** Some of those that wait in one place, and what kind of message they would open. */
interface Bundle extends Waiting {
  form: 'card' | 'boot' | 'storm';
  /** So many came in the last minute that it may be a storm before long. */
  isRush: boolean;
}

/** Which of the untold go out now, in which message. Pure: every rule of coalescing, of storms and of the limit is here and beside. */
export function planMessages(facts: GroupFacts): MessagePlan {
  const posted = postedBy(facts.notices);
  const steps = [...joins(facts, posted), ...bootJoins(facts, posted)];
  const waits: number[] = [];
  const sent = new Map<string, number[]>();
  const busy: Address[] = [];
  for (const place of waitingByPlace(facts, posted, steps)) {
    const { remaining, ...growth } = bundlesOf(place, facts);
    if (remaining?.isRush || remaining?.form === 'storm') busy.push(place.address);
    steps.push(...growth.steps);
    waits.push(...growth.waits);
    if (!remaining) continue;
    const key = chatKey(place.address);
    const times = sent.get(key) ?? sentAtMs(place.address, facts);
    sent.set(key, times);
    const next = nextMessage(remaining, times, facts);
    waits.push(...next.waits);
    if (!next.step) continue;
    steps.push(next.step);
    times.push(facts.nowMs);
  }
  return { steps, busy, ...(waits.length > 0 && { againInMs: Math.min(...waits) }) };
}

/** In a storm most go into its message; what is more severe than anything there is left, and gets one of its own. */
function bundlesOf(place: Waiting, facts: GroupFacts): { steps: MessageStep[]; waits: number[]; remaining?: Bundle } {
  const { address, start } = place;
  if (start !== undefined) return { steps: [], waits: [], remaining: { ...place, form: 'boot', isRush: false } };
  const count = newIncidents(place, facts);
  const isRush = count * 3 > facts.stormOver;
  if (count <= facts.stormOver) return { steps: [], waits: [], remaining: { ...place, form: 'card', isRush } };
  const { steps, waits, remaining, isGrowing } = intoStorms(place, facts);
  if (remaining.length === 0) return { steps, waits };
  const form = isGrowing && remaining.length <= facts.stormOver ? 'card' : 'storm';
  return { steps, waits, remaining: { address, start, waiting: remaining, form, isRush: false } };
}

/** A new message, or one that has not left yet; undefined while the window is open or the limit is reached. */
function nextMessage(
  { address, form, start, waiting, isRush }: Bundle,
  times: readonly number[],
  facts: GroupFacts,
): { step?: MessageStep; waits: number[] } {
  const readyMs = (fix: Remediation): number => (form === 'storm' ? facts.seen(fix).firstMs : postableAtMs(fix, facts)); // a storm shows no single fix
  const dueMs = Math.max(windowEndMs(waiting.map(readyMs), isRush, facts), calmEndMs(start, waiting, facts));
  const goMs = Math.max(dueMs, nextSlot(times, facts.maxPerMinute, minuteMs, facts.nowMs));
  if (goMs > facts.nowMs) return { waits: [goMs - facts.nowMs] };
  const stuck = facts.notices.find(
    (notice) => notice.spec.form === form && samePlace(notice.spec, address) && facts.isStuck(notice),
  );
  if (stuck && facts.isPosting(stuck)) return { waits: [outcomeMs] };
  const members = inOrder(waiting.filter((fix) => readyMs(fix) <= facts.nowMs));
  const later = waiting.filter((fix) => readyMs(fix) > facts.nowMs);
  const waits = later.map((fix) => readyMs(fix) + facts.coalesceMs - facts.nowMs);
  // Into the message that has not left yet: when the vendor is back it is one message, not forty.
  return stuck
    ? { step: { do: 'join', notice: stuck, members, unsent: true }, waits }
    : { step: { do: 'open', address, form, members }, waits };
}

/**
 * The window opens with the first; in a rush it stays open while more keep coming, for up to three times as long: what is
 * about to be a storm is told in one message, not in a card and a storm.
 */
function windowEndMs(readyMs: readonly number[], isRush: boolean, { coalesceMs, nowMs }: GroupFacts): number {
  const firstMs = Math.min(...readyMs);
  if (!isRush) return firstMs + coalesceMs;
  const lastMs = Math.max(...readyMs.filter((atMs) => atMs <= nowMs), firstMs);
  return Math.min(lastMs + coalesceMs, firstMs + 3 * coalesceMs);
}

/** By then most of what is critical and was broken at the start has been seen for as long as it must. */
const criticalPatienceMs = 30_000;

/** One start is one message, and it makes a sound if anything in it should: what is no more than a warning waits for that. */
function calmEndMs(start: string | undefined, waiting: readonly Remediation[], facts: GroupFacts): number {
  if (start === undefined || waiting.some(({ spec }) => spec.incident.severity === 'critical')) return 0;
  const startedMs = Math.min(Date.parse(start), ...waiting.map((fix) => facts.seen(fix).firstMs));
  return startedMs + criticalPatienceMs + facts.coalesceMs;
}

/** Of every message in that chat: when it was posted, or now for one that is on its way. */
const sentAtMs = (address: Address, facts: GroupFacts): number[] => [
  ...facts.alsoSentAtMs(address),
  ...facts.notices
    .filter((notice) => chatKey(notice.spec) === chatKey(address) && !facts.isStuck(notice))
    .map((notice) => facts.postedAtMs(notice) ?? facts.nowMs),
];
