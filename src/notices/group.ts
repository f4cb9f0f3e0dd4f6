import type { Notice } from '../kube/notice.ts';
import type { Remediation } from '../kube/remediation.ts';
import { conditionOf, isCleared, isOver } from '../kube/remediation.ts';
import { nextSlot } from '../lib/window.ts';
import { inOrder } from './compose.ts';
import { isRehearsed } from './context.ts';
import type { Address } from './route.ts';
import { chatKey, samePlace } from './route.ts';

/** How long a card waits for its rehearsal before it goes out without Approve. */
export const rehearsalPatienceMs = 5_000;
const minuteMs = 60_000;
/** A failure that nobody was told of is told late rather than never, but not as ancient history. */
const freshFailureMs = 600_000;

/** When this process first saw it, and first saw its rehearsal's answer: no clock but ours is compared. */
export interface Seen {
  firstMs: number;
  rehearsedMs?: number;
}

export interface GroupFacts {
  fixes: readonly Remediation[];
  notices: readonly Notice[];
  nowMs: number;
  coalesceMs: number;
  maxPerMinute: number;
  addressesOf(namespace: string): Address[];
  seen(fix: Remediation): Seen;
  /** When the vendor took it; undefined while it has not. */
  postedAtMs(notice: Notice): number | undefined;
  /** It could not be sent so far and is not being sent at this moment: more may ride along. */
  isStuck(notice: Notice): boolean;
}

export type Step =
  { do: 'open'; address: Address; members: Remediation[] } | { do: 'join'; notice: Notice; members: Remediation[] };

export interface Plan {
  steps: Step[];
  /** Nothing more to do before then; undefined: nothing waits. */
  againInMs?: number;
}

/** Which of the untold go out now, in which message. Pure: every rule of coalescing and of the limit is here. */
export function planMessages(facts: GroupFacts): Plan {
  const steps = joins(facts);
  const waits: number[] = [];
  const sent = new Map<string, number[]>();
  for (const { address, waiting } of waitingByPlace(facts, steps)) {
    const dueMs = Math.min(...waiting.map((fix) => tellableAtMs(fix, facts))) + facts.coalesceMs;
    const key = chatKey(address);
    const times = sent.get(key) ?? sentAtMs(address, facts);
    sent.set(key, times);
    const goMs = Math.max(dueMs, nextSlot(times, facts.maxPerMinute, minuteMs, facts.nowMs));
    if (goMs > facts.nowMs) {
      waits.push(goMs - facts.nowMs);
      continue;
    }
    const [members, later] = partition(waiting, (fix) => tellableAtMs(fix, facts) <= facts.nowMs);
    for (const fix of later) waits.push(tellableAtMs(fix, facts) + facts.coalesceMs - facts.nowMs);
    steps.push(send(address, inOrder(members), facts));
    times.push(facts.nowMs);
  }
  return { steps, ...(waits.length > 0 && { againInMs: Math.min(...waits) }) };
}

const partition = <T>(items: readonly T[], holds: (item: T) => boolean): [T[], T[]] => [
  items.filter(holds),
  items.filter((item) => !holds(item)),
];

/** Into the message that has not left yet, if there is one: when the vendor is back it is one message, not forty. */
function send(address: Address, members: Remediation[], facts: GroupFacts): Step {
  const stuck = facts.notices.find((notice) => samePlace(notice.spec, address) && facts.isStuck(notice));
  return stuck ? { do: 'join', notice: stuck, members } : { do: 'open', address, members };
}

const has = (notice: Notice, uid: string | undefined): boolean =>
  notice.spec.members.some((member) => member.uid === uid);

/** A successor takes over its predecessor's message, whatever state it is in by now. */
function joins(facts: GroupFacts): Step[] {
  const steps: (Step & { do: 'join' })[] = [];
  const byAge = [...facts.fixes].sort(
    (a, b) => Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp),
  );
  for (const notice of facts.notices) {
    const inside = new Set(notice.spec.members.map(({ uid }) => uid));
    const members = byAge.filter((fix) => {
      const follows = fix.spec.follows?.uid;
      if (!follows || !inside.has(follows) || inside.has(fix.metadata.uid) || isTold(fix, notice.spec.channel, facts))
        return false;
      if (!facts.addressesOf(fix.metadata.namespace ?? '').some((address) => samePlace(address, notice.spec)))
        return false;
      return inside.add(fix.metadata.uid);
    });
    if (members.length > 0) steps.push({ do: 'join', notice, members });
  }
  return steps;
}

const isTold = (fix: Remediation, channel: string, facts: GroupFacts): boolean =>
  facts.notices.some((notice) => notice.spec.channel === channel && has(notice, fix.metadata.uid));

function waitingByPlace(facts: GroupFacts, joined: readonly Step[]): { address: Address; waiting: Remediation[] }[] {
  const replaced = new Set(facts.fixes.map((fix) => fix.spec.follows?.uid));
  const places: { address: Address; waiting: Remediation[] }[] = [];
  for (const fix of facts.fixes) {
    if (!isWorthTelling(fix, facts.nowMs) || replaced.has(fix.metadata.uid)) continue;
    for (const address of facts.addressesOf(fix.metadata.namespace ?? '')) {
      const joins = joined.some(
        (step) => step.do === 'join' && step.notice.spec.channel === address.channel && step.members.includes(fix),
      );
      if (joins || isTold(fix, address.channel, facts)) continue;
      const place = places.find((other) => samePlace(other.address, address));
      if (place) place.waiting.push(fix);
      else places.push({ address, waiting: [fix] });
    }
  }
  return places;
}

/** What was over before anybody heard of it is not told, unless it failed: that still needs somebody. */
function isWorthTelling(fix: Remediation, nowMs: number): boolean {
  if (!isOver(fix)) return true;
  const failure = fix.status?.phase === 'Failed' ? conditionOf(fix, 'Failed') : undefined;
  return failure !== undefined && !isCleared(fix) && nowMs - Date.parse(failure.lastTransitionTime) < freshFailureMs;
}

/** Once its rehearsal has been answered, or has been waited for long enough. */
function tellableAtMs(fix: Remediation, facts: GroupFacts): number {
  const { firstMs, rehearsedMs } = facts.seen(fix);
  if (!fix.spec.action) return firstMs;
  const patienceMs = firstMs + rehearsalPatienceMs;
  return isRehearsed(fix) ? Math.min(rehearsedMs ?? firstMs, patienceMs) : patienceMs;
}

/** Of every message in that chat: when it was posted, or now for one that is on its way. */
const sentAtMs = (address: Address, facts: GroupFacts): number[] =>
  facts.notices
    .filter((notice) => chatKey(notice.spec) === chatKey(address) && !facts.isStuck(notice))
    .map((notice) => facts.postedAtMs(notice) ?? facts.nowMs);
