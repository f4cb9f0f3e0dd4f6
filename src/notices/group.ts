import type { Notice } from '../kube/notice.ts';
import type { Remediation } from '../kube/remediation.ts';
import { isOver } from '../kube/remediation.ts';
import { nextSlot } from '../lib/window.ts';
import { isRehearsed } from './context.ts';
import { isUnattended } from './head.ts';
import { inOrder } from './order.ts';
import type { Address } from './route.ts';
import { chatKey, samePlace } from './route.ts';

/** How long a card waits for its rehearsal before it goes out without Approve. */
export const rehearsalPatienceMs = 5_000;
const minuteMs = 60_000;
/** How soon to look again whether an attempt succeeded. */
const outcomeMs = 1_000;

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
  /** It could not be sent so far: more may ride along, but not while it is being tried again. */
  isStuck(notice: Notice): boolean;
  isPosting(notice: Notice): boolean;
  /** Messages of the last minute in that chat that no Notice of these tells of. */
  alsoSentAtMs(address: Address): readonly number[];
}

export type Step =
  | { do: 'open'; address: Address; members: Remediation[] }
  /** `unsent`: only as long as nobody has seen it. */
  | { do: 'join'; notice: Notice; members: Remediation[]; unsent: boolean };

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
    const stuck = facts.notices.find((notice) => samePlace(notice.spec, address) && facts.isStuck(notice));
    if (stuck && facts.isPosting(stuck)) {
      waits.push(outcomeMs);
      continue;
    }
    const [members, later] = partition(waiting, (fix) => tellableAtMs(fix, facts) <= facts.nowMs);
    for (const fix of later) waits.push(tellableAtMs(fix, facts) + facts.coalesceMs - facts.nowMs);
    // Into the message that has not left yet: when the vendor is back it is one message, not forty.
    steps.push(
      stuck
        ? { do: 'join', notice: stuck, members: inOrder(members), unsent: true }
        : { do: 'open', address, members: inOrder(members) },
    );
    times.push(facts.nowMs);
  }
  return { steps, ...(waits.length > 0 && { againInMs: Math.min(...waits) }) };
}

const partition = <T>(items: readonly T[], holds: (item: T) => boolean): [T[], T[]] => [
  items.filter(holds),
  items.filter((item) => !holds(item)),
];

const has = (notice: Notice, uid: string | undefined): boolean =>
  notice.spec.members.some((member) => member.uid === uid);

/** A successor takes over its predecessor's message, whatever state it is in by now; so does the successor's successor. */
function joins(facts: GroupFacts): Step[] {
  return facts.notices.flatMap((notice): Step[] => {
    const inside = new Set<string | undefined>(notice.spec.members.map(({ uid }) => uid));
    const candidates = facts.fixes.filter((fix) => fix.spec.follows && mayJoin(fix, notice, facts));
    const members: Remediation[] = [];
    const next = (): Remediation | undefined =>
      candidates.find(({ spec, metadata }) => inside.has(spec.follows?.uid) && !inside.has(metadata.uid));
    for (let fix = next(); fix; fix = next()) {
      inside.add(fix.metadata.uid);
      members.push(fix);
    }
    return members.length > 0 ? [{ do: 'join', notice, members, unsent: false }] : [];
  });
}

const mayJoin = (fix: Remediation, notice: Notice, facts: GroupFacts): boolean =>
  !isTold(fix, notice.spec.channel, facts) &&
  facts.addressesOf(fix.metadata.namespace ?? '').some((address) => samePlace(address, notice.spec));

const isTold = (fix: Remediation, channel: string, facts: GroupFacts): boolean =>
  facts.notices.some((notice) => notice.spec.channel === channel && has(notice, fix.metadata.uid));

function waitingByPlace(facts: GroupFacts, joined: readonly Step[]): { address: Address; waiting: Remediation[] }[] {
  const replaced = new Set(facts.fixes.map((fix) => fix.spec.follows?.uid));
  const places: { address: Address; waiting: Remediation[] }[] = [];
  for (const fix of facts.fixes) {
    if (!isWorthTelling(fix) || replaced.has(fix.metadata.uid)) continue;
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

/** What was over before anybody heard of it is not told, unless the trouble goes on: late rather than never. */
const isWorthTelling = (fix: Remediation): boolean => !isOver(fix) || isUnattended(fix);

/** Once its rehearsal has been answered, or has been waited for long enough. */
function tellableAtMs(fix: Remediation, facts: GroupFacts): number {
  const { firstMs, rehearsedMs } = facts.seen(fix);
  if (!fix.spec.action) return firstMs;
  const patienceMs = firstMs + rehearsalPatienceMs;
  return isRehearsed(fix) ? Math.min(rehearsedMs ?? firstMs, patienceMs) : patienceMs;
}

/** Of every message in that chat: when it was posted, or now for one that is on its way. */
const sentAtMs = (address: Address, facts: GroupFacts): number[] => [
  ...facts.alsoSentAtMs(address),
  ...facts.notices
    .filter((notice) => chatKey(notice.spec) === chatKey(address) && !facts.isStuck(notice))
    .map((notice) => facts.postedAtMs(notice) ?? facts.nowMs),
];
