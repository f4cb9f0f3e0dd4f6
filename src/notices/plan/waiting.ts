import { isCard, type Notice } from '../../kube/notice.ts';
import {
  conditionOf,
  firstSeverityRank,
  foundAtStart,
  isOver,
  phaseOf,
  predecessorsIn,
  type Remediation,
  replacedIn,
  severityRank,
} from '../../kube/remediation.ts';
import { isRehearsed } from '../cards/card-context.ts';
import { isUnattended, wasInterrupted } from '../cards/head.ts';
import { mostMembers } from '../outbox/notice-body.ts';
import { type Address, samePlace } from './route.ts';

/** When this process first saw it, and first saw the result of its rehearsal. Only our own clock is used. */
export interface SeenTimes {
  firstMs: number;
  rehearsedMs?: number;
}

/** Everything that decides what is posted in which message. */
export interface GroupFacts {
  fixes: readonly Remediation[];
  notices: readonly Notice[];
  nowMs: number;
  coalesceMs: number;
  maxPerMinute: number;
  /** More new incidents than this per minute, in one place, are a storm. */
  stormOver: number;
  addressesOf(namespace: string): Address[];
  seen(fix: Remediation): SeenTimes;
  /** When the vendor accepted it; undefined before that. */
  postedAtMs(notice: Notice): number | undefined;
  /** It could not be sent so far. More members may join it, but not while it is being retried. */
  isStuck(notice: Notice): boolean;
  isPosting(notice: Notice): boolean;
  /** Times of messages of the last minute in that chat that none of these Notices records. */
  alsoSentAtMs(address: Address): readonly number[];
}

export type MessageStep =
  | { do: 'open'; address: Address; form: 'card' | 'boot' | 'storm'; members: Remediation[] }
  /** `unsent`: join only while it is not sent. */
  | { do: 'join'; notice: Notice; members: Remediation[]; unsent: boolean };

export interface MessagePlan {
  steps: MessageStep[];
  /** Places where so many wait that other messages are edited less often. */
  busy: Address[];
  /** Nothing is due before then; undefined if nothing waits. */
  againInMs?: number;
}

/** Maps Remediations to messages. It is built once, because every Remediation asks. */
interface Posted {
  /** True if it is in a message of that channel, in any chat. */
  isPosted(fix: Remediation, channel: string): boolean;
  noticesOf(fix: Remediation): readonly Notice[];
}

export function postedBy(notices: readonly Notice[]): Posted {
  const byUid = new Map<string, Notice[]>();
  for (const notice of notices.filter(isCard))
    for (const { uid } of notice.spec.members) {
      const known = byUid.get(uid);
      if (known) known.push(notice);
      else byUid.set(uid, [notice]);
    }
  const noticesOf = ({ metadata }: Remediation): readonly Notice[] => byUid.get(metadata.uid) ?? [];
  return {
    noticesOf,
    isPosted: (fix, channel) => noticesOf(fix).some(({ spec }) => spec.channel === channel),
  };
}

/** When the process started that found it already broken; undefined if it broke while tapfix watched. */
export const startOf = ({ metadata }: Remediation): string | undefined => metadata.annotations?.[foundAtStart];

/**
 * Pure. Whether this belongs in the message about what that start found. Patience differs, so incidents come one after
 * the other. An incident more severe than anything in it would make no sound there, so it gets its own message.
 */
function belongsTo(notice: Notice, fix: Remediation, members: readonly Remediation[]): boolean {
  const start = startOf(fix);
  return (
    notice.spec.form === 'boot' &&
    start !== undefined &&
    members.some((member) => startOf(member) === start) &&
    members.some((member) => firstSeverityRank(member) <= severityRank(fix)) // what made a sound
  );
}

/** How long a card waits for its rehearsal before it goes out without Approve. */
const rehearsalPatienceMs = 5_000;

/** The Remediations that wait to be posted in one place. */
export interface Waiting {
  address: Address;
  /** For incidents that a start found broken: which start. */
  start: string | undefined;
  waiting: Remediation[];
}

export function waitingByPlace(facts: GroupFacts, posted: Posted, joined: readonly MessageStep[]): Waiting[] {
  const replaced = replacedIn(facts.fixes);
  const places: Waiting[] = [];
  for (const fix of facts.fixes) {
    if (!isWorthPosting(fix, facts) || replaced.has(fix.metadata.uid)) continue;
    for (const address of facts.addressesOf(fix.metadata.namespace ?? '')) {
      if (posted.isPosted(fix, address.channel)) continue;
      const joins = joined.some(
        (step) => step.do === 'join' && step.notice.spec.channel === address.channel && step.members.includes(fix),
      );
      if (joins) continue;
      const start = startOf(fix);
      const place = places.find((other) => samePlace(other.address, address) && other.start === start);
      if (place) place.waiting.push(fix);
      else places.push({ address, start, waiting: [fix] });
    }
  }
  return places;
}

/** A change that is older is history: a chat is new, or the message was posted and its Notice is gone. */
const recentMs = 3_600_000;

/**
 * It was approved, with kubectl for example, and over before it was posted. What was changed, or may have been, is
 * always shown. The time is the controller's.
 */
function wasChangedLately(fix: Remediation, nowMs: number): boolean {
  const endedAtMs = Date.parse(conditionOf(fix, phaseOf(fix))?.lastTransitionTime ?? '');
  const isChanged = fix.status?.execution?.appliedAt !== undefined || wasInterrupted(fix);
  return isChanged && nowMs - endedAtMs < recentMs;
}

/**
 * A Remediation that ended before it was posted is not posted, unless the workload is still broken (late is better than
 * never) or something was changed.
 */
const isWorthPosting = (fix: Remediation, { nowMs }: GroupFacts): boolean =>
  !isOver(fix) || isUnattended(fix) || wasChangedLately(fix, nowMs);

/** When its rehearsal has a result, or has been waited for long enough. */
export function postableAtMs(fix: Remediation, facts: GroupFacts): number {
  const { firstMs, rehearsedMs } = facts.seen(fix);
  if (!fix.spec.action) return firstMs;
  const patienceMs = firstMs + rehearsalPatienceMs;
  return isRehearsed(fix) ? Math.min(rehearsedMs ?? firstMs, patienceMs) : patienceMs;
}

/* Remediations that join a message that exists already. */

const mayJoin = (fix: Remediation, notice: Notice, facts: GroupFacts, posted: Posted): boolean =>
  !posted.isPosted(fix, notice.spec.channel) &&
  facts.addressesOf(fix.metadata.namespace ?? '').some((address) => samePlace(address, notice.spec));

/**
 * A successor takes over its predecessor's message, in whatever state that is, and so does the successor's successor.
 * One that is more severe than anything in the message would make no sound there, so it gets a new message, unless the
 * old one was not sent yet.
 */
export function joins(facts: GroupFacts, posted: Posted): MessageStep[] {
  const successors = facts.fixes.filter(predecessorsIn(facts.fixes));
  return facts.notices.filter(isCard).flatMap((notice): MessageStep[] => {
    const hasLeft = facts.postedAtMs(notice) !== undefined || facts.isPosting(notice);
    const before = membersOf(notice, facts);
    const isHeard = (fix: Remediation): boolean =>
      before.length === 0 || before.some((one) => severityRank(one) <= severityRank(fix));
    const candidates = successors.filter((fix) => mayJoin(fix, notice, facts, posted) && (isHeard(fix) || !hasLeft));
    if (candidates.length === 0) return [];
    const inside = new Set<string | undefined>(notice.spec.members.map(({ uid }) => uid));
    const members: Remediation[] = [];
    const next = (): Remediation | undefined =>
      candidates.find(({ spec, metadata }) => inside.has(spec.follows?.uid) && !inside.has(metadata.uid));
    for (let fix = next(); fix; fix = next()) {
      inside.add(fix.metadata.uid);
      members.push(fix);
    }
    return members.length > 0 ? [{ do: 'join', notice, members, unsent: !members.every(isHeard) }] : [];
  });
}

/** Everything that one start found broken goes into one message, each member when its patience is over. */
export function bootJoins(facts: GroupFacts, posted: Posted): MessageStep[] {
  const replaced = replacedIn(facts.fixes);
  const isReady = (fix: Remediation): boolean =>
    startOf(fix) !== undefined &&
    isWorthPosting(fix, facts) &&
    !replaced.has(fix.metadata.uid) &&
    postableAtMs(fix, facts) <= facts.nowMs;
  const steps = facts.notices
    .filter(({ spec }) => spec.form === 'boot')
    .map((notice) => ({ do: 'join' as const, notice, members: [] as Remediation[], unsent: false }));
  if (steps.length === 0) return [];
  for (const fix of facts.fixes.filter(isReady)) {
    const channels = new Set<string>();
    for (const { notice, members } of steps) {
      const { channel } = notice.spec;
      if (channels.has(channel) || !mayJoin(fix, notice, facts, posted) || roomIn(notice) <= members.length) continue;
      if (!belongsTo(notice, fix, membersOf(notice, facts))) continue;
      members.push(fix);
      channels.add(channel);
    }
  }
  return steps.filter(({ members }) => members.length > 0);
}

export function membersOf(notice: Notice, { fixes }: GroupFacts): Remediation[] {
  const inside = new Set(notice.spec.members.map(({ uid }) => uid));
  return fixes.filter(({ metadata }) => inside.has(metadata.uid));
}

/** Successors of its members may join as well, so it is never filled completely. */
export const roomIn = ({ spec }: Notice): number => Math.max(mostMembers - 1 - spec.members.length, 0);
