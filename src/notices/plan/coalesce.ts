import { type Remediation, severityOf } from '../../kube/remediation.ts';
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
/** How soon to check again whether an attempt succeeded. */
const outcomeMs = 1_000;

/** Some of those that wait in one place, and the form of the message they would open. */
interface Bundle extends Waiting {
  form: 'card' | 'boot' | 'storm';
  /** So many came in the last minute that it may become a storm soon. */
  isRush: boolean;
}

/**
 * Decides which unposted Remediations go out now, and in which message. Pure: every rule for coalescing, storms and the
 * limit is in this file or beside it.
 */
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

/** In a storm most go into its message. Those more severe than anything in it remain and get their own message. */
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

/** A new message, or one that was not sent yet; undefined while the window is open or the limit is used up. */
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
  // They join the message that was not sent yet: when the vendor is back it is one message, not forty.
  return stuck
    ? { step: { do: 'join', notice: stuck, members, unsent: true }, waits }
    : { step: { do: 'open', address, form, members }, waits };
}

/**
 * The window opens with the first. In a rush it stays open while more arrive, up to three times as long, so that a
 * coming storm is one message and not a card and a storm.
 */
function windowEndMs(readyMs: readonly number[], isRush: boolean, { coalesceMs, nowMs }: GroupFacts): number {
  const firstMs = Math.min(...readyMs);
  if (!isRush) return firstMs + coalesceMs;
  const lastMs = Math.max(...readyMs.filter((atMs) => atMs <= nowMs), firstMs);
  return Math.min(lastMs + coalesceMs, firstMs + 3 * coalesceMs);
}

/** By then most critical incidents that were broken at the start have been seen for their required time. */
const criticalPatienceMs = 30_000;

/**
 * One start gives one message, which makes a sound if anything in it should. So if only warnings wait, they wait for
 * critical ones.
 */
function calmEndMs(start: string | undefined, waiting: readonly Remediation[], facts: GroupFacts): number {
  if (start === undefined || waiting.some((fix) => severityOf(fix) === 'critical')) return 0;
  const startedMs = Math.min(Date.parse(start), ...waiting.map((fix) => facts.seen(fix).firstMs));
  return startedMs + criticalPatienceMs + facts.coalesceMs;
}

/** For every message in that chat: when it was posted, or now if it is being posted. */
const sentAtMs = (address: Address, facts: GroupFacts): number[] => [
  ...facts.alsoSentAtMs(address),
  ...facts.notices
    .filter((notice) => chatKey(notice.spec) === chatKey(address) && !facts.isStuck(notice))
    .map((notice) => facts.postedAtMs(notice) ?? facts.nowMs),
];
