import type { Prepared } from '../actions/action.ts';
import { parseAction } from '../actions/table.ts';
import type { Answer, Press } from '../channels/channel.ts';
import type { Config } from '../config/schema.ts';
import { type Api, hasCode, isConflict, isNotFound, type KubeObject } from '../kube/api.ts';
import type { Notice } from '../kube/notice.ts';
import { type AskForPage, pagesOf } from '../kube/bounds.ts';
import {
  type Again,
  acknowledgedBy,
  acknowledgedUntil,
  acknowledgedUntilMs,
  type Approval,
  type Remediation,
  snoozedUntil,
  whoIsOnIt,
} from '../kube/remediation.ts';
import { type EventView, viewEvent } from '../kube/views.ts';
import { type Clock, iso } from '../lib/clock.ts';
import { messageOf, unreachable } from '../lib/errors.ts';
import { line } from '../lib/text.ts';
import type { Question } from '../notices/cards/card-context.ts';
import { composeDetails } from '../notices/cards/details.ts';
import { nameOf } from '../notices/cards/people.ts';
import { composeQuestion } from '../notices/cards/question.ts';
import { timesIn } from '../notices/cards/times.ts';
import { contextFor } from '../notices/outbox/notice-body.ts';
import { answerMs } from '../notices/plan/answer.ts';
import { type Payload, shownHash, type Verb as Letter } from '../notices/payload.ts';
import type { Confirms } from './confirms.ts';
import * as must from './rules.ts';
import {
  byWhoMayDecide,
  hangsOnAKnownMessage,
  isInTime,
  isStillPending,
  mayBeRepeated,
  needsSomebodyStill,
  type Refusal,
  refuse,
  type Rule,
  wasAsked,
} from './rules.ts';

type ProposeAgain = (fix: Remediation) => Promise<Again>;

/** The answer that the presser reads. */
function proposedAgain(
  again: Again,
  localised: (text: string) => string,
): Refusal | { ok: true; decision: 'ProposedAgain'; say: string } {
  if (again.ok) return { ok: true, decision: 'ProposedAgain', say: 'Proposed again; this message shows it.' };
  switch (again.because) {
    case 'gone':
      return refuse('Gone', 'It is no longer there; nothing was proposed.');
    case 'replaced':
      return refuse('AlreadyProposed', 'It was proposed again already; nothing was done.');
    case 'over':
      return refuse('AlreadyOver', 'It is over; there is nothing to propose.');
    case 'healthy':
      return refuse('NothingToPropose', 'It looks healthy at this moment; nothing was proposed.');
    case 'too often':
      return refuse('NothingToPropose', 'It was proposed ten times already; nothing was proposed.');
    case 'nothing':
      return refuse('NothingToPropose', `Nothing was proposed: ${localised(again.why)}`.slice(0, 190));
    default:
      return unreachable(again);
  }
}

/** A person's request: a press, or a command that means the same. */
export interface Request {
  press: Press;
  payload: Payload;
  /** Why it is rejected. */
  note?: string;
  /** How long it is snoozed. */
  forMs?: number;
  /** The command that it came as. */
  command?: string;
  /** It was pressed on a page of a list. */
  isOnPage?: true;
}

/** A request that the rules allow. */
interface Case extends Request {
  fix: Remediation;
  /** The message that has the button. */
  notice: Notice;
  /** The whole diff was on that message, beside the button. */
  wasDiffShown: boolean;
  /** Aborted once the presser has had an answer: nothing is started after that. */
  late: AbortSignal;
}

/** Everything that verbs may use. */
export interface Desk {
  api: Pick<Api, 'get' | 'page' | 'patch'>;
  clock: Clock;
  current: () => Config;
  confirms: Confirms;
  timeZone: string;
  /** tapfix's own namespace. */
  ownNamespace: string;
  /** Reads the current target: what the fix would do to it, or why it would not. */
  prepare(fix: Remediation): Promise<Prepared>;
  /** From a fresh reading: a successor, or the reason why there is none. */
  proposeAgain: ProposeAgain;
}

/** `decision` is a metric label and a field of the audit line. */
export type VerbResult =
  Refusal | ({ ok: true; decision: string; say: string; fix?: Remediation } & Pick<Answer, 'show' | 'onUnseen'>);

/** A verb is the meaning of a button: its rules, and what it does. Each has a row in the table below. */
interface Verb {
  rules: readonly Rule[];
  /** It only shows something: RBAC is not asked whether the reader may approve. */
  reads?: true;
  /** undefined if somebody changed the Remediation meanwhile, so that it must be checked again. */
  act(one: Case, desk: Desk): Promise<VerbResult | undefined>;
}

/** Writes only if nobody changed it since it was checked. undefined if somebody did. */
async function record(
  { metadata }: Remediation,
  change: { annotations?: Record<string, string>; spec?: object },
  { api }: Pick<Desk, 'api'>,
  said: VerbResult,
): Promise<VerbResult | undefined> {
  const { namespace, name, resourceVersion } = metadata;
  const { annotations, spec } = change;
  const body = { metadata: { resourceVersion, ...(annotations && { annotations }) }, ...(spec && { spec }) };
  try {
    await api.patch<Remediation>({ kind: 'Remediation', ...(namespace && { namespace }), name }, 'merge', body);
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined;
    if (hasCode(error, 403) || hasCode(error, 422))
      return refuse('RefusedByCluster', `The cluster refused it: ${messageOf(error)}`.slice(0, 190));
    throw error;
  }
  return said;
}

/** Not all of them: in a storm there may be a hundred thousand Events, and somebody is waiting. */
const mostRead = 250;
const mostPages = 8;
const mostEvents = 8;

/** The latest warnings about the broken object and about objects whose names start with its name, the newest first. */
async function readEvents(api: Pick<Api, 'page'>, { metadata, spec }: Remediation): Promise<EventView[]> {
  const { name } = spec.incident.object;
  const read: EventView[] = [];
  const ask: AskForPage<KubeObject> = (query, longestBytes) =>
    api.page('Event', metadata.namespace, query, longestBytes);
  let pages = 0;
  for await (const { items } of pagesOf(ask, { fieldSelector: 'type=Warning' }, () => {})) {
    read.push(...items.flatMap((item) => viewEvent(item) ?? []));
    if (read.length >= mostRead || ++pages >= mostPages) break;
  }
  return read
    .filter(({ object }) => object.name === name || object.name.startsWith(`${name}-`))
    .sort((a, b) => b.lastSeenMs - a.lastSeenMs)
    .slice(0, mostEvents);
}

/** "I'm on it": everybody sees who, and nobody is reminded for a while. The next person who presses it takes over. */
const acknowledge: Verb = {
  rules: [...byWhoMayDecide, needsSomebodyStill],
  async act({ press, fix }, desk) {
    const before = whoIsOnIt(fix);
    const nowMs = desk.clock.now();
    const isQuiet = (acknowledgedUntilMs(fix) ?? 0) > nowMs;
    if (before === press.by && isQuiet) return refuse('AlreadyDecided', 'You are on it already.');
    const from = before && before !== press.by ? ` from ${nameOf(desk.current(), before)}` : '';
    const say = from ? `You took this over${from}.` : 'You are on it; nobody is reminded for two hours.';
    const annotations = { [acknowledgedBy]: press.by, [acknowledgedUntil]: iso(nowMs + answerMs) };
    return record(fix, { annotations }, desk, {
      ok: true,
      decision: 'Acknowledged',
      say,
    });
  },
};

/** Proposes it again from a fresh reading: the successor takes over the message. */
const again: Verb = {
  rules: [...byWhoMayDecide, mayBeRepeated],
  act: async ({ fix }, { proposeAgain, clock, timeZone }) =>
    proposedAgain(await proposeAgain(fix), timesIn(timeZone, clock.now()).localised),
};

/** How long somebody may take to answer "really?". */
export const confirmMs = 30_000;

const rules = [
  ...must.byWhoMayDecide,
  must.isStillPending,
  must.isInTime,
  must.wasRehearsed,
  must.wasConfirmed,
  must.isAllowed,
  must.isAsShown,
  must.wasAsked,
];

const approve: Verb = {
  rules,
  act: (one, desk) => afterComparing(one, desk, howToGoOn(one, desk)),
};

function howToGoOn(one: Case, desk: Desk): Act {
  if (!one.wasDiffShown) return showAndAsk;
  return asksOnceMore(one.fix, desk) ? ask : approved;
}

/** "Yes, delete...", pressed by the person who was asked. */
const confirm: Verb = { rules, act: (one, desk) => afterComparing(one, desk, approved) };

const asksOnceMore = ({ spec }: Remediation, { current }: Desk): boolean =>
  current().approval.confirm.includes(spec.action?.type ?? '');

type Act = (one: Case, desk: Desk) => Promise<VerbResult | undefined>;

/** People approve what they saw: the live target is compared here, and again when the fix is applied. */
async function afterComparing(one: Case, desk: Desk, act: Act): Promise<VerbResult | undefined> {
  const changed = await notAsShown(one.fix, desk);
  if (changed) return changed;
  return one.late.aborted ? undefined : act(one, desk);
}

async function notAsShown(fix: Remediation, { prepare }: Desk): Promise<Refusal | undefined> {
  const prepared = await prepare(fix);
  if (!prepared.ok) return must.refuse('NotAsShown', `${prepared.say} Nothing was done.`);
  return prepared.targetHash === fix.status?.preview?.targetHash ? undefined : must.hasChanged(fix);
}

const questionOf = ({ press, fix, notice, command }: Case, { current, clock }: Desk): Question => ({
  by: press.by,
  name: nameOf(current(), press.by),
  untilMs: clock.now() + confirmMs,
  channel: press.channel,
  notice: notice.metadata.name,
  shown: shownHash(fix),
  ...(command !== undefined && { askedBy: command }),
});

const really = (fix: Remediation): string => `Really ${consequenceOf(fix)}? You have 30 s to say yes.`;

/** The question takes the place of the buttons on the message that was pressed. */
async function ask(one: Case, desk: Desk): Promise<VerbResult> {
  desk.confirms.arm(one.fix.metadata.uid, questionOf(one, desk));
  return { ok: true, decision: 'Asked', say: really(one.fix) };
}

/** Shows the presser the whole diff first. Only a yes beside it counts, or the same command once more. */
async function showAndAsk(one: Case, desk: Desk): Promise<VerbResult> {
  const { fix, notice, command } = one;
  const { confirms, current, clock, timeZone, ownNamespace: namespace } = desk;
  const asked: Question = { ...questionOf(one, desk), isApart: true };
  const context = contextFor(notice, { config: current(), nowMs: clock.now(), timeZone, confirms, namespace });
  const show = composeQuestion(fix, context, { asked, isWritten: command !== undefined });
  if (!show) return tooLongToShow(fix);
  confirms.arm(fix.metadata.uid, asked);
  const onUnseen = (): void => confirms.disarm(fix.metadata.uid, asked);
  return { ok: true, decision: 'Asked', say: really(fix), show, onUnseen };
}

const tooLongToShow = ({ metadata: { namespace, name } }: Remediation): Refusal =>
  refuse(
    'TooLongToShow',
    `The change is too long to be shown here, so it is not approved here. kubectl -n ${namespace} get fix ${name} -o yaml shows it.`,
  );

function consequenceOf(fix: Remediation): string {
  try {
    const { action, params } = parseAction(fix.spec.action!);
    return action.consequence(params);
  } catch {
    return 'do this';
  }
}

/**
 * The question is not cancelled but runs out: a decided card no longer shows it, and cancelling it would edit the card
 * twice.
 */
async function approved({ press, fix }: Case, desk: Desk): Promise<VerbResult | undefined> {
  const approval: Approval = { state: 'Approved', by: press.by, at: iso(desk.clock.now()), via: press.channel };
  return record(fix, { spec: { approval } }, desk, {
    ok: true,
    decision: 'Approved',
    say: 'Approved; it starts now.',
    fix: { ...fix, spec: { ...fix.spec, approval } },
  });
}

/** No, after all. Only the person who was asked can go back. */
const back: Verb = {
  rules: [...byWhoMayDecide, isStillPending, isInTime, wasAsked],
  async act({ fix }, { confirms }) {
    confirms.disarm(fix.metadata.uid);
    return { ok: true, decision: 'Back', say: 'Nothing was done.', fix };
  },
};

/** For everybody who reads this chat: everything that did not fit on the card. */
const details: Verb = {
  rules: [hangsOnAKnownMessage],
  reads: true,
  async act({ fix }, { api, clock, current, timeZone }) {
    const events = await readEvents(api, fix).catch(() => undefined);
    const by = (who: string): string => nameOf(current(), who);
    const { cluster, links } = current();
    const show = composeDetails(fix, events, { cluster, links, nowMs: clock.now(), timeZone, nameOf: by });
    return { ok: true, decision: 'Shown', say: '', show };
  },
};

/** As much as the resource can hold. */
const longestNote = 512;

/** A rejection needs no rehearsal. */
const reject: Verb = {
  rules: [...byWhoMayDecide, isStillPending, isInTime],
  async act({ press, fix, note = '' }, desk) {
    const why = line(note, longestNote);
    const who = { state: 'Rejected' as const, by: press.by, at: iso(desk.clock.now()), via: press.channel };
    const approval: Approval = { ...who, ...(why && { note: why }) };
    const said = { ok: true, decision: 'Rejected', say: 'Rejected; nothing is changed.' } as const;
    return record(fix, { spec: { approval } }, desk, said);
  },
};

const usuallyMs = 3_600_000;

/** No sound until then; the card itself is still edited. */
const snooze: Verb = {
  rules: [...byWhoMayDecide, needsSomebodyStill],
  async act({ fix, forMs = usuallyMs }, desk) {
    const nowMs = desk.clock.now();
    const until = timesIn(desk.timeZone, nowMs).minuteZoned(nowMs + forMs);
    return record(fix, { annotations: { [snoozedUntil]: iso(nowMs + forMs) } }, desk, {
      ok: true,
      decision: 'Snoozed',
      say: `Silent until ${until}.`,
    });
  },
};

/** The verb for each letter of a button's payload (notices/payload.ts). */
export const verbs: Readonly<Record<Letter, Verb>> = {
  a: approve,
  c: confirm,
  b: back,
  r: reject,
  k: acknowledge,
  z: snooze,
  d: details,
  g: again,
};
