import type { Answer, Interaction, Press } from '../channels/channel.ts';
import type { Config } from '../config/schema.ts';
import type { Api } from '../kube/api.ts';
import type { Notice } from '../kube/notice.ts';
import { type Remediation, whoIsOnIt } from '../kube/remediation.ts';
import { type Clock, inTime } from '../lib/clock.ts';
import { counted } from '../lib/text.ts';
import type { Questions } from '../notices/cards/card-context.ts';
import { needsSomebody } from '../notices/cards/head.ts';
import type { Message } from '../notices/cards/message.ts';
import { composePage } from '../notices/cards/page.ts';
import { entriesOf, nameOf } from '../notices/cards/people.ts';
import { contextFor } from '../notices/outbox/notice-body.ts';
import type { TestCards } from '../notices/outbox/test-cards.ts';
import {
  decodeAll,
  decodePage,
  decodePress,
  decodeTest,
  encodePress,
  onPage,
  type PageRef,
} from '../notices/payload.ts';
import { asShown } from '../notices/plan/unwatched.ts';
import { idOf, refuse } from './rules.ts';
import type { VerbResult } from './verbs.ts';

/** Only this many at once, because the cluster is busy at such a time. */
const atOnce = 4;

/**
 * "I'm on it" for every member of a message. Each is checked and recorded as if it had been pressed alone. The presser
 * gets an answer as soon as the first is recorded, and the others follow. In namespaces where this person may not
 * decide, nothing is recorded in their name. undefined if there is no incident to take.
 */
async function acknowledgeAll(
  press: Press,
  members: readonly Remediation[],
  onPress: (press: Press) => Promise<Answer>,
): Promise<Answer | undefined> {
  const open = members.filter((fix) => needsSomebody(fix) && whoIsOnIt(fix) !== press.by);
  const say = (fix: Remediation): Promise<Answer> => onPress({ ...press, data: encodePress('k', fix) });
  const forbidden = new Set<string | undefined>(); // namespaces
  let refusal: Answer | undefined;
  for (const [index, fix] of open.entries()) {
    if (forbidden.has(fix.metadata.namespace)) continue;
    const answer = await say(fix);
    if (!answer.alert) {
      const remaining = open.slice(index + 1).filter(({ metadata }) => !forbidden.has(metadata.namespace));
      void inTurns(remaining, say);
      return {
        say: `You are on it: ${counted(remaining.length + 1, 'incident')}. Nobody is reminded any more.`,
        alert: false,
      };
    }
    refusal = answer;
    forbidden.add(fix.metadata.namespace);
  }
  return refusal;
}

async function inTurns(fixes: readonly Remediation[], say: (fix: Remediation) => Promise<unknown>): Promise<void> {
  const remaining = [...fixes];
  const worker = async (): Promise<void> => {
    for (let fix = remaining.shift(); fix; fix = remaining.shift()) await say(fix).catch(() => undefined);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** A Notice as it is on the phone. */
interface PostedNotice {
  notice: Notice;
  /** The vendor's id of the message. */
  message: string | undefined;
  members: Remediation[];
}

export interface PagesDeps {
  api: Pick<Api, 'get'>;
  clock: Clock;
  current: () => Config;
  timeZone: string;
  /** tapfix's own namespace. */
  ownNamespace: string;
  confirms: Questions;
  posted(notice: string): PostedNotice | undefined;
  tests: Pick<TestCards, 'press'>;
  /** Handles all other presses, and the buttons on a page. */
  onPress(press: Press, more?: { isOnPage: true }): Promise<Answer>;
  /** Writes one audit line and counts it; returns the answer. */
  audit(interaction: Interaction, said: VerbResult): Answer;
}

const unknown = refuse('UnknownMessage', 'tapfix does not know this message here; nothing was done.');
const nothingRemains = refuse('AlreadyDecided', 'You are on it already, or it is over.');

/** The longest time a page waits to show the result of a decision. The next view of the page shows it anyway. */
const readingMs = 1_000;

/**
 * Handles "Show all" and every press on the pages it shows. No state is kept: the button carries the Notice and the
 * page. A page works only in the chat of its Notice, and a press on it is checked as if it were made on the Notice's
 * message.
 */
export function createPages(deps: PagesDeps): (press: Press) => Promise<Answer> {
  const { clock, current } = deps;

  async function onPress(press: Press): Promise<Answer> {
    const all = decodeAll(press.data);
    if (all !== undefined) return onAll(press, deps.posted(all));
    const test = decodeTest(press.data);
    if (test !== undefined) return onTest(press, deps.posted(test));
    const found = decodePage(press.data);
    if (!found) return deps.onPress(press);
    const { ref, inner } = found;
    const posted = deps.posted(ref.notice);
    const message = posted && isAtHome(press, posted) ? posted.message : undefined;
    if (!posted || message === undefined)
      return inner ? deps.onPress({ ...press, data: inner }) : deps.audit(press, unknown);
    const inPlace = press.message !== message;
    if (!inner) return { say: '', alert: false, show: render(posted, posted.members, ref), inPlace };
    const answer = await deps.onPress({ ...press, data: inner, message }, { isOnPage: true });
    // If the answer shows something of its own, that is shown. A press on the card itself is not on a page.
    if (!inPlace || isAskedOfAnother(press, inner)) return answer;
    if (answer.show) return isApproval(inner) ? { ...answer, show: asPage(answer.show, ref), inPlace } : answer;
    return { ...answer, show: render(posted, await freshly(posted, inner), ref), inPlace };
  }

  /** The question stays in place of the page for whoever is asked. */
  function isAskedOfAnother({ by }: Press, inner: string): boolean {
    const uid = decodePress(inner)?.uid;
    const asked = uid === undefined ? undefined : deps.confirms.armedFor(uid, clock.now());
    return asked !== undefined && asked.by !== by;
  }

  /** The button of a test card decides nothing, so anybody may press it. */
  async function onTest(press: Press, posted: PostedNotice | undefined): Promise<Answer> {
    const isOn = posted !== undefined && isAtHome(press, posted) && press.message === posted.message;
    if (!isOn) return deps.audit(press, unknown);
    const { by, channel } = press;
    if (!(await deps.tests.press(posted.notice, by)))
      return { say: 'This test card is over; /test posts another.', alert: true };
    const isListed = channel === 'console' || entriesOf(current(), channel, by).length > 0;
    const who = isListed ? nameOf(current(), by) : `${idOf(by)}, who is not on the approvers' list`;
    return { say: `It works: tapfix received the press of ${who}.`, alert: !isListed };
  }

  /** Only on the message itself, because that shows how many they are. */
  async function onAll(press: Press, posted: PostedNotice | undefined): Promise<Answer> {
    const isOn = posted !== undefined && isAtHome(press, posted) && press.message === posted.message;
    if (!isOn) return deps.audit(press, unknown);
    return (await acknowledgeAll(press, posted.members, deps.onPress)) ?? deps.audit(press, nothingRemains);
  }

  function render({ notice }: PostedNotice, members: readonly Remediation[], ref: PageRef): Message {
    const { timeZone, confirms, ownNamespace: namespace } = deps;
    const facts = { config: current(), nowMs: clock.now(), timeZone, confirms, namespace };
    const context = contextFor(notice, facts);
    return composePage(asShown(members, context), context, ref);
  }

  /** The watch has not delivered the change yet, and the page should not offer again what was just decided. */
  async function freshly({ members }: PostedNotice, inner: string): Promise<Remediation[]> {
    const uid = decodePress(inner)?.uid;
    const known = members.find(({ metadata }) => metadata.uid === uid);
    if (!known) return members;
    const { namespace, name } = known.metadata;
    const read = deps.api.get<Remediation>({ kind: 'Remediation', ...(namespace && { namespace }), name });
    const live = await inTime({ clock, ms: readingMs, late: undefined }, () => read.catch(() => undefined));
    return live?.metadata.uid === uid ? members.map((fix) => (fix === known ? live! : fix)) : members;
  }

  return onPress;
}

const isApproval = (data: string): boolean => decodePress(data)?.verb === 'a';

/** A question in place of the page: its buttons lead back to it. */
const asPage = (question: Message, ref: PageRef): Message => ({
  ...question,
  cards: question.cards.map((card) => ({
    ...card,
    buttons: card.buttons.map((row) => row.map((button) => onPage(button, ref))),
  })),
});

/** True in the Notice's chat, on its message or on one that the vendor says is ours. */
const isAtHome = (
  { channel, place, message, ours }: Press,
  { notice: { spec }, message: own }: PostedNotice,
): boolean =>
  spec.channel === channel && spec.chat === place.chat && (message === own || ours === true || channel === 'console');
