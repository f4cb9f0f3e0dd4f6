import { type Gap, longGapMs, type Sight, type Why } from '../../kube/contact.ts';
import { type NoticeSubject, aboutOf, type Notice, type UnseenPart } from '../../kube/notice.ts';
import { iso } from '../../lib/clock.ts';
import { nameOfNotice } from '../outbox/notice-body.ts';
import { type Address, samePlace } from './route.ts';

/* Pure. How much all watches together can see, and could see. */

/** A time, now over, in which nothing at all was seen. */
interface Blindness {
  fromMs: number;
  untilMs: number;
  why: Why;
}

type Span = Gap;

const isExpected = ({ isOptedOut }: Sight): boolean => !isOptedOut;

const spansOf = ({ gaps, trouble }: Sight): Span[] => [
  ...gaps,
  ...(trouble ? [{ fromMs: trouble.sinceMs, untilMs: Number.POSITIVE_INFINITY, why: trouble.why }] : []),
];

const clearest = (a: Why, b: Why): Why => (b === 'unreachable' ? b : a);

/** The times in which neither sees, if long enough to mention. */
const common = (some: readonly Span[], others: readonly Span[]): Span[] =>
  some.flatMap((a) =>
    others.flatMap((b) => {
      const fromMs = Math.max(a.fromMs, b.fromMs);
      const untilMs = Math.min(a.untilMs, b.untilMs);
      return untilMs - fromMs >= longGapMs ? [{ fromMs, untilMs, why: clearest(a.why, b.why) }] : [];
    }),
  );

/** The server was up until any watch last heard it, and is up again when the first watch hears it. */
const sharedBy = (sights: readonly Sight[]): Span[] => {
  const [first = [], ...others] = sights.filter(isExpected).map(spansOf);
  return others.reduce(common, first);
};

/**
 * Outages that are over. Everything is seen again when the last watch is back, which is within half a minute of the
 * first. A watch that does not come back is reported separately.
 */
export function blindnessOf(sights: readonly Sight[], nowMs: number): Blindness[] {
  return sharedBy(sights).flatMap(({ fromMs, untilMs, why }) => {
    const isIn = (span: Span): boolean => span.fromMs <= fromMs && span.untilMs >= untilMs;
    const backMs = sights.filter(isExpected).map((sight) => spansOf(sight).find(isIn)!.untilMs);
    const isAllBack = backMs.every(Number.isFinite);
    if (!Number.isFinite(untilMs) || (!isAllBack && nowMs < untilMs + longGapMs)) return [];
    const inTime = backMs.filter((ms) => ms <= untilMs + longGapMs);
    return [{ fromMs, untilMs: Math.max(untilMs, ...inTime), why }];
  });
}

/** Kinds that we cannot see while we see others: refused for a minute, and refused again since the others are back. */
export function unseenOf(sights: readonly Sight[]): Sight[] {
  if (sights.filter(isExpected).every(({ trouble }) => trouble)) return [];
  const contactMs = Math.max(
    0,
    ...sharedBy(sights)
      .map(({ untilMs }) => untilMs)
      .filter(Number.isFinite),
  );
  return sights.filter(
    ({ trouble }) => trouble && trouble.failedAtMs - Math.max(trouble.failingSinceMs, contactMs) >= longGapMs,
  );
}

/** Whether everything that should be seen was seen within the last minute. */
export const seesAll = (sights: readonly Sight[], nowMs: number): boolean =>
  sights.length > 0 &&
  sights.every(({ synced, trouble }) => synced && (!trouble || nowMs - trouble.sinceMs < longGapMs));

/* Pure. Plans the messages about tapfix itself, from what the watches see and which messages exist. */

export interface SystemFacts {
  sights: readonly Sight[];
  /** Set if the configuration was changed and the change is not used. */
  refusal?: { at: string; problem: string } | undefined;
  /** Signs that somebody else uses our bot, and since when. */
  shared?: readonly SharedBot[];
  /** This process has looked for such signs long enough to say that there are none. */
  isSureOfBots?: boolean;
  /** Notices of the form `system`. */
  notices: readonly Notice[];
  /** Names that this process knows. What was posted once is not posted again, even when its Notice is gone. */
  said: ReadonlySet<string>;
  /** The places for news of this namespace; every chat for undefined. */
  addressesOf(namespace: string | undefined): Address[];
  /** The watched namespaces, as a chat is shown them; without any, no chat is greeted. */
  watches?: readonly string[];
  /** The current id of a chat that tapfix has greeted. */
  chatNow?(address: Address): string;
  nowMs: number;
}

export interface SharedBot {
  channel: 'telegram' | 'slack';
  sign: 'press' | 'connection';
  sinceMs: number;
}

export type SystemStep =
  | { do: 'create'; name: string; address: Address; about: NoticeSubject }
  | { do: 'update'; notice: Notice; about: NoticeSubject }
  | { do: 'delete'; notice: Notice };

type Unseen = NoticeSubject & { what: 'unseen' };
type Refused = NoticeSubject & { what: 'refused' };

/** If it is refused again this soon after it worked, it is the same trouble, in the same message. */
const sameTroubleMs = 600_000;
/** Long after the message the Notice is useless: nothing in it changes any more. */
const keptMs = 86_400_000;

export function planSystem(facts: SystemFacts): SystemStep[] {
  const steps = [
    ...helloSteps(facts),
    ...blindSteps(facts),
    ...unseenSteps(facts),
    ...refusedSteps(facts),
    ...sharedSteps(facts),
    ...testSteps(facts),
  ];
  const isTouched = (notice: Notice): boolean => steps.some((step) => step.do === 'update' && step.notice === notice);
  const old = facts.notices.filter((notice) => !isTouched(notice) && isHistory(notice, facts));
  return [...steps, ...old.map((notice) => ({ do: 'delete', notice }) as const)];
}

function blindSteps({ sights, said, addressesOf, nowMs }: SystemFacts): SystemStep[] {
  return blindnessOf(sights, nowMs).flatMap(({ fromMs, untilMs, why }) => {
    const about: NoticeSubject = { what: 'blind', from: iso(fromMs), until: iso(untilMs), why };
    return addressesOf(undefined)
      .map((address) => ({ address, name: nameOfNotice(address, 'system', `blind ${about.from}`) }))
      .filter(({ name }) => !said.has(name))
      .map(({ address, name }): SystemStep => ({ do: 'create', name, address, about }));
  });
}

/** Posted once for each refused text. It is over when that text is replaced, whatever came after it. */
function refusedSteps({ refusal, notices, said, addressesOf, nowMs }: SystemFacts): SystemStep[] {
  const over = notices.flatMap((notice): SystemStep[] => {
    const about = aboutOf(notice);
    const isOver = about?.what === 'refused' && !about.until && about.from !== refusal?.at;
    return isOver ? [{ do: 'update', notice, about: { ...about, until: iso(nowMs) } }] : [];
  });
  if (!refusal) return over;
  const about: Refused = { what: 'refused', from: refusal.at, problem: refusal.problem };
  const fresh = addressesOf(undefined)
    .map((address) => ({ address, name: nameOfNotice(address, 'system', `refused ${refusal.at}`) }))
    .filter(({ name }) => !said.has(name))
    .map(({ address, name }): SystemStep => ({ do: 'create', name, address, about }));
  return [...over, ...fresh];
}

/** Posted once for each sign, in the chats of that vendor, until it is over. A restart does not know yet that it is. */
function sharedSteps({ shared = [], isSureOfBots = false, ...facts }: SystemFacts): SystemStep[] {
  const { notices, said, addressesOf, nowMs } = facts;
  const open = notices.flatMap((notice) => {
    const about = aboutOf(notice);
    return about?.what === 'shared' && !about.until ? [{ notice, about }] : [];
  });
  const isSame = (a: Omit<SharedBot, 'sinceMs'>, b: Omit<SharedBot, 'sinceMs'>): boolean =>
    a.channel === b.channel && a.sign === b.sign;
  const over = open
    .filter(({ about }) => isSureOfBots && !shared.some((one) => isSame(one, about)))
    .map(({ notice, about }): SystemStep => ({ do: 'update', notice, about: { ...about, until: iso(nowMs) } }));
  const fresh = shared.flatMap(({ channel, sign, sinceMs }) => {
    const about = { what: 'shared', channel, sign, from: iso(sinceMs) } as const;
    return addressesOf(undefined)
      .filter((address) => address.channel === channel)
      .filter((address) => !open.some((one) => isSame(one.about, about) && samePlace(one.notice.spec, address)))
      .map((address) => ({ address, name: nameOfNotice(address, 'system', `shared ${sign} ${about.from}`) }))
      .filter(({ name }) => !said.has(name))
      .map(({ address, name }): SystemStep => ({ do: 'create', name, address, about }));
  });
  return [...over, ...fresh];
}

/** As many as fit in one sentence that is still read. */
const mostWatched = 10;

/** Once in every chat, ever: its Notice stays, whatever becomes of the chat. Nobody needs it on a terminal or a webhook. */
function helloSteps({ watches = [], notices, said, addressesOf, chatNow }: SystemFacts): SystemStep[] {
  const greeted = notices.filter((notice) => aboutOf(notice)?.what === 'hello').map(({ spec }) => spec);
  const isGreeted = ({ channel, chat }: Address): boolean =>
    greeted.some((one) => one.channel === channel && (one.chat === chat || chatNow?.(one) === chat));
  if (watches.length === 0) return [];
  return addressesOf(undefined).flatMap((address): SystemStep[] => {
    const { channel, chat } = address;
    const name = nameOfNotice({ channel, chat }, 'system', 'hello');
    if (channel === 'console' || channel === 'webhook' || said.has(name) || isGreeted(address)) return [];
    const about = { what: 'hello', channel, watches: watches.slice(0, mostWatched) } as const;
    return [{ do: 'create', name, address, about: { ...about, watches: [...about.watches] } }];
  });
}

/** How long a test card waits for somebody to press it. */
export const testCardMs = 600_000;

function testSteps({ notices, nowMs }: SystemFacts): SystemStep[] {
  return notices.flatMap((notice): SystemStep[] => {
    const about = aboutOf(notice);
    const isOver = about?.what === 'test' && !about.until && Math.abs(nowMs - Date.parse(about.from)) >= testCardMs;
    return isOver ? [{ do: 'update', notice, about: { ...about, until: iso(nowMs) } }] : [];
  });
}

const scopeOf = ({ namespace }: { namespace?: string | undefined }): string => namespace ?? '';

function unseenSteps(facts: SystemFacts): SystemStep[] {
  const unseen = Map.groupBy(unseenOf(facts.sights), scopeOf);
  const known = facts.notices.flatMap((notice) => {
    const about = aboutOf(notice);
    return about?.what === 'unseen' && isCurrent(about, facts.nowMs) ? [{ notice, about }] : [];
  });
  const updates = known.flatMap(({ notice, about }): SystemStep[] => {
    const parts = brought(about.parts, unseen.get(scopeOf(about)) ?? [], scopeOf(about), facts);
    return JSON.stringify(parts) === JSON.stringify(about.parts)
      ? []
      : [{ do: 'update', notice, about: { ...about, parts } }];
  });
  const fresh = [...unseen].flatMap(([scope, sights]) =>
    facts
      .addressesOf(scope || undefined)
      .filter(
        (address) => !known.some(({ notice, about }) => scopeOf(about) === scope && samePlace(notice.spec, address)),
      )
      .map((address) => opened(address, scope, sights))
      .filter(({ name }) => !facts.said.has(name)),
  );
  return [...updates, ...fresh];
}

function opened(address: Address, scope: string, sights: readonly Sight[]): SystemStep & { do: 'create' } {
  const parts = brought([], sights, scope, { sights, nowMs: 0 });
  const about: Unseen = { what: 'unseen', ...(scope && { namespace: scope }), parts };
  const from = parts.map((part) => part.from).sort()[0]!;
  return { do: 'create', name: nameOfNotice(address, 'system', `unseen ${scope} ${from}`), address, about };
}

/** The parts as they are now: parts that are seen again end, new ones are added. */
function brought(
  parts: readonly UnseenPart[],
  unseen: readonly Sight[],
  scope: string,
  { sights, nowMs }: Pick<SystemFacts, 'sights' | 'nowMs'>,
): UnseenPart[] {
  const isUnseen = ({ trouble, synced, isOptedOut }: Sight): boolean =>
    trouble !== undefined || !synced || isOptedOut === true;
  const isStill = (kind: string): boolean =>
    sights.some((sight) => sight.kind === kind && scopeOf(sight) === scope && isUnseen(sight));
  const kept = parts.map((part) => (part.until || isStill(part.kind) ? part : { ...part, until: iso(nowMs) }));
  const isOpen = (kind: string): boolean => kept.some((part) => part.kind === kind && !part.until);
  const news = new Map(unseen.filter(({ kind }) => !isOpen(kind)).map((sight) => [sight.kind, sight])).values();
  const added = [...news].map(({ kind, trouble }) => ({ kind, from: iso(trouble!.sinceMs), why: trouble!.why }));
  return [...kept.filter(({ kind }) => !added.some((part) => part.kind === kind)), ...added];
}

const endOf = ({ parts }: Unseen): number =>
  Math.max(...parts.map(({ until }) => (until ? Date.parse(until) : Number.POSITIVE_INFINITY)));

const isCurrent = (about: Unseen, nowMs: number): boolean => endOf(about) + sameTroubleMs > nowMs;

function isHistory(notice: Notice, { addressesOf, nowMs }: SystemFacts): boolean {
  const about = aboutOf(notice);
  if (!about || about.what === 'hello') return false; // written by another version, or to stay
  const endMs = about.what === 'unseen' ? endOf(about) : Date.parse(about.until ?? '9999-12-31T23:59:59Z');
  const isSaid = notice.status?.message !== undefined;
  const isWanted = addressesOf(undefined).some(
    ({ channel, chat }) => channel === notice.spec.channel && chat === notice.spec.chat,
  );
  return endMs + keptMs < nowMs && (isSaid || !isWanted);
}
