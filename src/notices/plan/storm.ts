import type { Notice } from '../../kube/notice.ts';
import { firstSeverityRank, predecessorsIn, type Remediation, severityRank } from '../../kube/remediation.ts';
import { inOrder } from '../cards/head.ts';
import { samePlace } from './route.ts';
import { type GroupFacts, membersOf, roomIn, startOf, type MessageStep, type Waiting } from './waiting.ts';

const minuteMs = 60_000;

/** Pure. The number of new incidents of the last minute in this place, including posted ones. */
export function newIncidents({ address, waiting }: Waiting, facts: GroupFacts): number {
  const here = facts.notices.filter(({ spec }) => samePlace(spec, address));
  const uids = new Set(here.flatMap(({ spec }) => spec.members.map(({ uid }) => uid)));
  const posted = facts.fixes.filter(({ metadata }) => uids.has(metadata.uid)).filter((fix) => isNew(fix, facts));
  return waiting.filter((fix) => isRecent(facts.seen(fix).firstMs, facts)).length + posted.length;
}

const isRecent = (atMs: number, { nowMs }: GroupFacts): boolean => Math.abs(nowMs - atMs) < minuteMs;

/**
 * A successor is not a new incident, nor is one that was broken before tapfix looked. After a restart everything is
 * first seen just now, so for posted ones the age comes from the resource.
 */
function isNew(fix: Remediation, facts: GroupFacts): boolean {
  if (startOf(fix) !== undefined || (fix.spec.follows && predecessorsIn(facts.fixes)(fix))) return false;
  const createdMs = Date.parse(fix.metadata.creationTimestamp ?? '');
  const { firstMs } = facts.seen(fix);
  return isRecent(Number.isFinite(createdMs) ? Math.min(firstMs, createdMs) : firstMs, facts);
}

interface Growth {
  steps: MessageStep[];
  waits: number[];
  /** Those that no storm message takes. */
  remaining: Remediation[];
  /** A storm message exists already. */
  isGrowing: boolean;
}

/**
 * A storm message grows once per window. Incidents more severe than anything in it are left out, because an edit makes
 * no sound.
 */
export function intoStorms({ address, waiting }: Waiting, facts: GroupFacts): Growth {
  const growth: Growth = { steps: [], waits: [], remaining: [...waiting], isGrowing: false };
  for (const notice of facts.notices) {
    if (notice.spec.form !== 'storm' || !samePlace(notice.spec, address) || facts.isStuck(notice)) continue;
    const inside = membersOf(notice, facts);
    if (!inside.some((fix) => isNew(fix, facts))) continue; // an earlier storm
    growth.isGrowing = true;
    const worst = Math.min(...inside.map(firstSeverityRank)); // what made a sound
    const members = growth.remaining.filter((fix) => severityRank(fix) >= worst).slice(0, roomIn(notice));
    if (members.length === 0) continue;
    growth.remaining = growth.remaining.filter((fix) => !members.includes(fix));
    const waitMs = Math.min(...members.map((fix) => facts.seen(fix).firstMs)) + facts.coalesceMs - facts.nowMs;
    if (waitMs > 0) growth.waits.push(waitMs);
    else growth.steps.push(joining(notice, members));
  }
  return growth;
}

const joining = (notice: Notice, members: Remediation[]): MessageStep => ({
  do: 'join',
  notice,
  members: inOrder(members),
  unsent: false,
});
