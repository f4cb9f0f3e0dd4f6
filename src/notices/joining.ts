import type { Notice } from '../kube/notice.ts';
import { type Remediation, severityRank } from '../kube/remediation.ts';
import { belongsTo, startOf } from './boot.ts';
import type { GroupFacts, Step } from './group-facts.ts';
import { mostMembers } from './notice-body.ts';
import { samePlace } from './route.ts';
import { isNoReminder, type Told } from './told.ts';
import { isWorthTelling, replacedIn, tellableAtMs } from './waiting.ts';

/* Who goes into a message that is there already. */

const mayJoin = (fix: Remediation, notice: Notice, facts: GroupFacts, told: Told): boolean =>
  !told.isTold(fix, notice.spec.channel) &&
  facts.addressesOf(fix.metadata.namespace ?? '').some((address) => samePlace(address, notice.spec));

/**
 * A successor takes over its predecessor's message, whatever state it is in by now; so does the successor's successor.
 * One that is more severe than anything in it would not be heard there, unless it has not left: it gets a new message.
 */
export function joins(facts: GroupFacts, told: Told): Step[] {
  const successors = facts.fixes.filter((fix) => fix.spec.follows);
  return facts.notices.filter(isNoReminder).flatMap((notice): Step[] => {
    const hasLeft = facts.postedAtMs(notice) !== undefined || facts.isPosting(notice);
    const before = membersOf(notice, facts);
    const isHeard = (fix: Remediation): boolean =>
      before.length === 0 || before.some((one) => severityRank(one) <= severityRank(fix));
    const candidates = successors.filter((fix) => mayJoin(fix, notice, facts, told) && (isHeard(fix) || !hasLeft));
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

/** What one start found broken is told in one message, each when its patience is over. */
export function bootJoins(facts: GroupFacts, told: Told): Step[] {
  const replaced = replacedIn(facts);
  const isReady = (fix: Remediation): boolean =>
    startOf(fix) !== undefined &&
    isWorthTelling(fix) &&
    !replaced.has(fix.metadata.uid) &&
    tellableAtMs(fix, facts) <= facts.nowMs;
  const steps = facts.notices
    .filter(({ spec }) => spec.form === 'boot')
    .map((notice) => ({ do: 'join' as const, notice, members: [] as Remediation[], unsent: false }));
  if (steps.length === 0) return [];
  for (const fix of facts.fixes.filter(isReady)) {
    const channels = new Set<string>();
    for (const { notice, members } of steps) {
      const { channel } = notice.spec;
      if (channels.has(channel) || !mayJoin(fix, notice, facts, told) || roomIn(notice) <= members.length) continue;
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

/** Successors of what is in it may join as well, so it is never filled to the brim. */
export const roomIn = ({ spec }: Notice): number => Math.max(mostMembers - 1 - spec.members.length, 0);
