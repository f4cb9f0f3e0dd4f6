import { z } from 'zod';
import { type EscalationStep, webhookId } from '../../config/escalation-schema.ts';
import { isCard, type Notice } from '../../kube/notice.ts';
import { isBroken, phaseOf, predecessorsIn, type Remediation, replacedIn } from '../../kube/remediation.ts';
import { hashOf } from '../../lib/hash.ts';
import type { Alert, Mention } from '../cards/message.ts';
import { isCriticalAndUnanswered, isUnanswered, unansweredSinceMs } from './answer.ts';
import type { Address } from './route.ts';

/** Annotation of a Notice of the form `escalation`: the target it belongs to. */
export const escalationAnnotation = 'tapfix.dev/escalation';
const noteSchema = z.object({ target: z.string().max(64) });
export type EscalationNote = z.infer<typeof noteSchema>;

/** undefined if it is not ours, or from another version. */
export function escalationOf({ metadata }: Notice): EscalationNote | undefined {
  try {
    return noteSchema.parse(JSON.parse(metadata.annotations?.[escalationAnnotation] ?? ''));
  } catch {
    return undefined;
  }
}

/** One place of one step. */
export interface EscalationTarget {
  /** The same as long as the configuration names the same place so often, whatever the order of its steps. */
  id: string;
  afterMs: number;
  address: Address;
  /** Ids of people at that vendor. */
  mention: readonly string[];
}

export function targetsOf(steps: readonly EscalationStep[]): EscalationTarget[] {
  const times = new Map<string, number>();
  return steps.flatMap(({ after: afterMs, telegram, slack, webhook }) => {
    const places: Pick<EscalationTarget, 'address' | 'mention'>[] = [
      ...(telegram
        ? [{ address: { channel: 'telegram' as const, chat: telegram.chat }, mention: telegram.mention.map(String) }]
        : []),
      ...(slack ? [{ address: { channel: 'slack' as const, chat: slack.channel }, mention: slack.mention }] : []),
      ...(webhook ? [{ address: { channel: 'webhook' as const, chat: webhookId(webhook) }, mention: [] }] : []),
    ];
    return places.map((place) => {
      const key = `${place.address.channel} ${place.address.chat}`;
      const nth = times.get(key) ?? 0;
      times.set(key, nth + 1);
      return { ...place, afterMs, id: hashOf([key, nth], 16) };
    });
  });
}

export interface EscalationFacts {
  notices: readonly Notice[];
  fixes: readonly Remediation[];
  targets: readonly EscalationTarget[];
  nowMs: number;
  isMuted(fix: Remediation): boolean;
}

/** One message to a target. */
export interface Escalating {
  target: EscalationTarget;
  members: Remediation[];
  /** Equal for the same escalation, whoever plans it. It is part of the name of its Notice. */
  of: string;
}

/** Pure. What nobody has answered for too long and has not gone to that target yet, and when the next one is due. */
export function planEscalations(facts: EscalationFacts): { due: Escalating[]; againInMs?: number } {
  const { notices, fixes, targets, nowMs } = facts;
  if (targets.length === 0) return { due: [] };
  const before = predecessorsIn(fixes);
  const replaced = replacedIn(fixes);
  const postedMs = firstPosts(notices);
  const gone = sentTo(notices);
  const waiting = fixes.flatMap((fix) => {
    if (replaced.has(fix.metadata.uid) || facts.isMuted(fix) || !isCriticalAndUnanswered(fix, nowMs, before)) return [];
    const sinceMs = sinceFor(fix, postedMs, before);
    return sinceMs === undefined
      ? []
      : [{ fix, sinceMs, chain: chainOf(fix, before).map(({ metadata }) => metadata.uid) }];
  });
  const waits: number[] = [];
  const due = targets.flatMap((target): Escalating[] => {
    const sent = gone.get(target.id);
    const open = waiting.filter(({ chain }) => !chain.some((uid) => sent?.has(uid)));
    const late = open.filter(({ sinceMs }) => sinceMs + target.afterMs <= nowMs);
    waits.push(...open.map(({ sinceMs }) => sinceMs + target.afterMs - nowMs).filter((ms) => ms > 0));
    const members = late.map(({ fix }) => fix).sort((a, b) => (a.metadata.uid < b.metadata.uid ? -1 : 1));
    return members.length > 0 ? [{ target, members, of: `${target.id} ${members[0]!.metadata.uid}` }] : [];
  });
  return { due, ...(waits.length > 0 && { againInMs: Math.min(...waits) }) };
}

/** When each was first posted, in whatever chat. */
function firstPosts(notices: readonly Notice[]): ReadonlyMap<string, number> {
  const posts = new Map<string, number>();
  for (const notice of notices.filter(isCard)) {
    const atMs = Date.parse(notice.status?.postedAt ?? '');
    if (!(atMs > 0)) continue;
    for (const { uid } of notice.spec.members) posts.set(uid, Math.min(posts.get(uid) ?? atMs, atMs));
  }
  return posts;
}

/** For each target, what has gone there. */
function sentTo(notices: readonly Notice[]): ReadonlyMap<string, ReadonlySet<string>> {
  const sent = new Map<string, Set<string>>();
  for (const notice of notices) {
    const note = notice.spec.form === 'escalation' ? escalationOf(notice) : undefined;
    if (!note) continue;
    const uids = sent.get(note.target) ?? new Set();
    for (const { uid } of notice.spec.members) uids.add(uid);
    sent.set(note.target, uids);
  }
  return sent;
}

type Before = (fix: Remediation) => Remediation | undefined;

/** Itself, what it follows, what that follows, and so on. */
function chainOf(fix: Remediation, before: Before): Remediation[] {
  const chain = [fix];
  for (let one = before(fix); one && !chain.includes(one); one = before(one)) chain.push(one);
  return chain;
}

/**
 * A new diagnosis is no answer: the time goes on from the first message. Only a person proposes again what had expired or
 * failed.
 */
function sinceFor(fix: Remediation, postedMs: ReadonlyMap<string, number>, before: Before): number | undefined {
  const chain = chainOf(fix, before);
  const firstOwn = chain.findIndex((one, index) => index > 0 && phaseOf(one) !== 'Superseded');
  const own = firstOwn < 0 ? chain : chain.slice(0, firstOwn);
  const posts = own.flatMap(({ metadata }) => postedMs.get(metadata.uid) ?? []);
  if (posts.length === 0) return undefined;
  const createdMs = Date.parse(own.at(-1)!.metadata.creationTimestamp) || 0;
  const startMs = Math.max(Math.min(...posts), createdMs);
  return unansweredSinceMs(fix, startMs, before);
}

/** Pure. The state of an escalation that was sent. It never goes back. */
export function eventFor(members: readonly Remediation[], nowMs: number): Alert['event'] {
  if (!members.some(isBroken)) return 'resolve';
  return members.some((fix) => isUnanswered(fix, nowMs)) ? 'trigger' : 'acknowledge';
}

/** Pure. Whether there is still a reason to send it for the first time. */
export const isStillEscalated = (
  notice: Notice,
  members: readonly Remediation[],
  targets: readonly EscalationTarget[],
  nowMs: number,
): boolean =>
  targets.some(({ id }) => id === escalationOf(notice)?.target) &&
  members.some((fix) => isCriticalAndUnanswered(fix, nowMs));

/** The people of its target, by the names that the configuration has for them. */
export const mentionsFor = (
  notice: Notice,
  targets: readonly EscalationTarget[],
  nameOf: (by: string) => string,
): Mention[] => {
  const target = targets.find(({ id }) => id === escalationOf(notice)?.target);
  return (target?.mention ?? []).map((id) => {
    const by = `${target!.address.channel}:${id}`;
    const name = nameOf(by);
    return { id, name: name === by ? id : name };
  });
};
