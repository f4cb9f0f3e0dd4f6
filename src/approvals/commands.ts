import type { Answer, Command, CommandHint } from '../channels/channel.ts';
import type { Approver } from '../config/schema.ts';
import { mayDecideIn } from '../config/selection.ts';
import { type Remediation, shortIdOf } from '../kube/remediation.ts';
import { iso } from '../lib/clock.ts';
import { parseDuration, spokenDuration } from '../lib/duration.ts';
import { messageOf } from '../lib/errors.ts';
import { covers, isLiteral } from '../lib/glob.ts';
import { composeMessage } from '../notices/cards/compose.ts';
import type { MessageContext, Question } from '../notices/cards/card-context.ts';
import type { Card, Line, Message } from '../notices/cards/message.ts';
import { composeHandover } from '../notices/cards/handover.ts';
import { composeOpenList } from '../notices/cards/open-list.ts';
import { entriesOf } from '../notices/cards/people.ts';
import { timesIn } from '../notices/cards/times.ts';
import { composeWhy } from '../notices/cards/why.ts';
import { contextFor } from '../notices/outbox/notice-body.ts';
import { shownHash, type Verb } from '../notices/payload.ts';
import { addressesOf } from '../notices/plan/route.ts';
import { asShown } from '../notices/plan/unwatched.ts';
import {
  cardOf,
  type CommandRow,
  findFix,
  type CommandDeps,
  isOurChat,
  longestMs,
  openHere,
  shortestMs,
} from './find-fix.ts';
import { idOf, notListed, type Refusal, refusedByRbac, refuse } from './rules.ts';
import { confirmMs, type Request } from './verbs.ts';

/** Does the same as a press on its button. */
function press(
  command: Command,
  fix: Remediation,
  verb: Verb,
  deps: CommandDeps,
  more: Partial<Request> = {},
): Promise<Answer> {
  const { channel, by, name, place } = command;
  const message = cardOf(command, fix, deps)?.status?.message ?? '';
  const payload = { verb, uid: fix.metadata.uid, shown: shownHash(fix) };
  return deps.handle({ press: { channel, by, name, place, message, data: '' }, payload, ...more });
}

const approve: CommandRow = {
  name: 'approve',
  takes: '[NAME]',
  does: 'approve the fix, after you have seen the whole change',
  async run(command, words, deps) {
    const found = findFix(command, words, deps, { isFor: 'deciding' });
    if (!found.ok) return deps.audit(command, found);
    const { fix } = found;
    const card = cardOf(command, fix, deps);
    const asked = deps.confirms.armedFor(fix.metadata.uid, deps.clock.now());
    const isYes = asked !== undefined && asked.notice === card?.metadata.name && answers(command, asked);
    const payload = {
      verb: isYes ? 'c' : 'a',
      uid: fix.metadata.uid,
      shown: isYes ? asked.shown : shownHash(fix),
    } as const;
    return press(command, fix, payload.verb, deps, { command: nameOfCommand(command), payload });
  },
};

/**
 * This person was asked for a confirmation here a moment ago and writes it again: that is a yes. The command that was
 * answered with the question is not, because the vendor may deliver it twice; nor is one that had arrived before the
 * question was asked.
 */
function answers(command: Command, { by, askedBy, untilMs }: Question): boolean {
  const askedMs = untilMs - confirmMs;
  return by === command.by && askedBy !== nameOfCommand(command) && (command.receivedMs ?? askedMs) >= askedMs;
}

const nameOfCommand = ({ channel, place, id }: Command): string => `${channel} ${place.chat} ${id}`;

const reject: CommandRow = {
  name: 'reject',
  takes: '[NAME] [REASON]',
  does: 'reject the fix; the reason is recorded',
  async run(command, words, deps) {
    const found = findFix(command, words, deps, { isFor: 'deciding', reason: true });
    if (!found.ok) return deps.audit(command, found);
    return press(command, found.fix, 'r', deps, { note: found.rest.join(' ') });
  },
};

const ack: CommandRow = {
  name: 'ack',
  takes: '[NAME]',
  does: 'show everybody that you are on it',
  async run(command, words, deps) {
    const found = findFix(command, words, deps, { isFor: 'attention' });
    return found.ok ? press(command, found.fix, 'k', deps) : deps.audit(command, found);
  },
};

const notSoLong = refuse('NotUnderstood', 'A snooze lasts between 1m and 7d, for example /snooze 1h.');

const snooze: CommandRow = {
  name: 'snooze',
  takes: '[NAME] [1h]',
  does: 'make no sound about it for a while, 1h without a time',
  async run(command, words, deps) {
    const last = parseDuration(words.at(-1) ?? '');
    const found = findFix(command, last === undefined ? words : words.slice(0, -1), deps, { isFor: 'attention' });
    if (!found.ok) return deps.audit(command, found);
    if (last === undefined) return press(command, found.fix, 'z', deps);
    if (last < shortestMs || last > longestMs) return deps.audit(command, notSoLong);
    return press(command, found.fix, 'z', deps, { forMs: last });
  },
};

function contextOf({ channel }: Command, deps: CommandDeps): MessageContext {
  const { clock, current, timeZone, confirms, ownNamespace: namespace } = deps;
  return contextFor({ spec: { channel } }, { config: current(), nowMs: clock.now(), timeZone, confirms, namespace });
}

/** The characters before the name of a command. */
const slashOf = ({ channel }: Pick<Command, 'channel'>): string => (channel === 'slack' ? '/tapfix ' : '/');

const open: CommandRow = {
  name: 'open',
  takes: '',
  does: 'list what is broken now',
  async run(command, _words, deps) {
    const fixes = openHere(command, deps);
    const [first] = fixes;
    if (!first) return { say: 'Nothing is open.', alert: false };
    const context = contextOf(command, deps);
    const hint = { tap: `${slashOf(command)}show`, words: ` ${shortIdOf(first)}: one of them in full` };
    return shown({ ...composeOpenList(asShown(fixes, context), context), hint });
  },
};

const show: CommandRow = {
  name: 'show',
  takes: '[NAME]',
  does: 'show one of them in full',
  async run(command, words, deps) {
    // Looking decides nothing, so a name is accepted wherever it is written.
    const { replyTo: _, ...alone } = command;
    const found = findFix(words.length > 0 ? alone : command, words, deps, { isFor: 'looking' });
    if (!found.ok) return { say: found.say, alert: true };
    const context = contextOf(command, deps);
    const message = composeMessage(asShown([found.fix], context), context);
    return shown({
      ...message,
      silent: true,
      rest: `Remediation ${found.fix.metadata.namespace}/${found.fix.metadata.name}`,
    });
  },
};

const test: CommandRow = {
  name: 'test',
  takes: '',
  does: 'post a harmless card here, with a button to press',
  async run({ channel, place }, _words, { tests }) {
    const isPosted = await tests.post({ channel, ...place });
    return isPosted
      ? { say: '', alert: false }
      : { say: 'A test card was posted here less than a minute ago.', alert: true };
  },
};

/** For setting up: everybody may ask, in any chat. It names nobody else, and nothing of the cluster. */
const id: CommandRow = {
  name: 'id',
  takes: '',
  does: 'show the ids of this chat and of you',
  async run({ channel, by, place: { chat, thread } }) {
    if (channel === 'console') return { say: `This is the console. You are ${by}.`, alert: false };
    const topic = thread === undefined ? '' : ` (${channel === 'slack' ? 'thread' : 'topic'} ${thread})`;
    return { say: `The id of this chat is ${chat}${topic}. Your id is ${idOf(by)}.`, alert: false };
  },
};

const why: CommandRow = {
  name: 'why',
  takes: '[NAME]',
  does: 'show why a fix was proposed, or why none was',
  async run(command, words, deps) {
    const found = findFix(command, words, deps, { isFor: 'looking' });
    if (!found.ok) return { say: found.say, alert: true };
    const refusal = mayNotRead(command, found.fix.metadata.namespace ?? '', deps);
    return refusal ? deps.audit(command, refusal) : shown(composeWhy(found.fix, contextOf(command, deps)));
  },
};

/** The whole chat reads the answer, so it must be a chat of that namespace, and an approver of it who asks. */
function mayNotRead({ channel, by, place }: Command, namespace: string, { current }: CommandDeps): Refusal | undefined {
  const isRouted = addressesOf(current(), namespace).some((one) => one.channel === channel && one.chat === place.chat);
  if (!isRouted) return refuse('NotAllowedHere', `News of ${namespace} is for another chat; ask there.`);
  const mayDecide = entriesOf(current(), channel, by).some((entry) => mayDecideIn(entry, namespace));
  return channel === 'console' || mayDecide ? undefined : notListed('NotAllowedHere', by, ` for ${namespace}`);
}

const handover: CommandRow = {
  name: 'handover',
  takes: '[8h]',
  does: 'list what is open, silent and muted, and whether the fixes since then held',
  async run(command, [since = '8h', ...more], deps) {
    const forMs = parseDuration(since);
    if (forMs === undefined || more.length > 0 || forMs < shortestMs || forMs > longestMs)
      return deps.audit(command, refuse('NotUnderstood', 'Write it like this: /handover 8h (between 1m and 7d).'));
    const { channel, by } = command;
    if (channel !== 'console' && entriesOf(deps.current(), channel, by).length === 0)
      return deps.audit(command, notListed('NotAnApprover', by, ''));
    const isTheirs = (namespace: string): boolean => mayNotRead(command, namespace, deps) === undefined;
    const fixes = deps.fixes().filter(({ metadata }) => isTheirs(metadata.namespace ?? ''));
    const mutes = deps.mutes.active().filter(({ glob }) => {
      const [namespace = ''] = glob.split('/');
      return !isLiteral(namespace) || isTheirs(namespace);
    });
    const open = openHere(command, deps).filter(({ metadata }) => isTheirs(metadata.namespace ?? ''));
    const facts = { fixes, open, mutes, sinceMs: deps.clock.now() - forMs };
    return shown(composeHandover(facts, contextOf(command, deps)));
  },
};

const status: CommandRow = {
  name: 'status',
  takes: '',
  does: 'show how tapfix itself is',
  async run(command, _words, deps) {
    const open = openHere(command, deps).length;
    const times = timesIn(deps.timeZone, deps.clock.now());
    const mutes = deps.mutes.active().map(({ glob, until }) => `muted: ${glob} until ${times.minuteZoned(until)}`);
    const lines = [open === 1 ? '1 is open here' : `${open} are open here`, ...mutes, ...deps.status()];
    return shown(note(`tapfix on ${deps.current().cluster}`, lines));
  },
};

const note = (headline: string, footer: Line[]): Message => {
  const card: Card = { dot: 'grey', headline, rows: [], footer, buttons: [] };
  return { cards: [card], silent: true };
};

const shown = (show: Message): Answer => ({ say: '', alert: false, show });

export const isGlob = /^[a-z0-9*?][a-z0-9*?.-]{0,62}(\/[a-z0-9*?.-]{1,190})?$/;

const mute: CommandRow = {
  name: 'mute',
  takes: '[GLOB 1h | GLOB off]',
  does: 'post nothing new about it for a while; alone, list what is muted',
  async run(command, words, deps) {
    const [glob, long = '1h'] = words;
    if (!glob) return list(deps);
    const forMs = long === 'off' ? 0 : parseDuration(long);
    const wrong = !isGlob.test(glob) || forMs === undefined || words.length > 2;
    if (wrong)
      return deps.audit(
        command,
        refuse('NotUnderstood', 'Write it like this: /mute shop-* 1h, /mute shop/checkout 30m or /mute shop-* off.'),
      );
    if (forMs !== 0 && (forMs < shortestMs || forMs > longestMs))
      return deps.audit(
        command,
        refuse('NotUnderstood', 'A mute lasts between 1m and 7d, for example /mute shop-* 1h.'),
      );
    const refusal = await mayNot(command, glob, deps);
    return refusal ? deps.audit(command, refusal) : set(command, glob, forMs, deps);
  },
};

async function set(command: Command, glob: string, forMs: number, deps: CommandDeps): Promise<Answer> {
  const nowMs = deps.clock.now();
  try {
    await deps.mutes.set({ glob, until: iso(nowMs + forMs), by: command.by });
  } catch (error) {
    return deps.audit(command, refuse('NotRecorded', `It could not be recorded: ${messageOf(error)}`.slice(0, 190)));
  }
  const until = timesIn(deps.timeZone, nowMs).minuteZoned(nowMs + forMs);
  const say = forMs === 0 ? `${glob} is no longer muted.` : `${glob} is muted until ${until}.`;
  return deps.audit(command, { ok: true, decision: forMs === 0 ? 'Unmuted' : 'Muted', say });
}

function list({ mutes, clock, timeZone }: CommandDeps): Answer {
  const times = timesIn(timeZone, clock.now());
  const lines = mutes.active().map(({ glob, until }) => `${glob} until ${times.minuteZoned(until)}`);
  return lines.length > 0 ? shown(note('Muted', lines)) : { say: 'Nothing is muted.', alert: false };
}

/** People who may decide everywhere in the glob may mute it. */
async function mayNot(command: Command, glob: string, deps: CommandDeps): Promise<Refusal | undefined> {
  if (command.channel === 'console') return undefined;
  const entries = entriesOf(deps.current(), command.channel, command.by);
  const namespace = glob.split('/')[0]!;
  if (entries.length === 0) return notListed('NotAnApprover', command.by, ` for ${namespace}`);
  const entry = entries.find((one) => mayMuteAllOf(one, namespace));
  if (!entry) return notListed('NotAllowedHere', command.by, ` for all of ${namespace}`);
  if (entry.kubernetesUser === undefined) return undefined;
  const isAllowed = await deps.subjectAccess(entry, isLiteral(namespace) ? namespace : '');
  return isAllowed ? undefined : refusedByRbac(entry, namespace);
}

const mayMuteAllOf = ({ namespaces }: Approver, wanted: string): boolean =>
  namespaces === undefined || namespaces.some((glob) => covers(glob, wanted));

const help: CommandRow = {
  name: 'help',
  takes: '',
  does: 'list the commands',
  run: async (command) => shown(note('What can be written to tapfix', helpLines(slashOf(command)))),
};

/** The commands, in the order in which they are listed. */
export const commands: readonly CommandRow[] = [
  open,
  show,
  why,
  approve,
  reject,
  ack,
  snooze,
  mute,
  handover,
  status,
  test,
  id,
  help,
];

const helpLines = (before: string): Line[] => [
  ...commands.map(({ name, takes, does }) => ({
    tap: `${before}${name}`,
    words: `${takes && ` ${takes}`}: ${does}`,
  })),
  'NAME is a workload, namespace/workload or an id (#3f9a1c). In reply to a card, or where only one is open, no name is needed.',
];

interface Commands {
  onCommand(command: Command): Promise<Answer>;
  commands: readonly CommandHint[];
}

const notHere = (command: Command): Refusal =>
  refuse('UnknownMessage', `tapfix does not use this chat; nothing was done. ${slashOf(command)}id shows its id.`);

/**
 * A command that was under way for longer is not acted on: whoever wrote it has seen other things since. A time far in
 * the future says that the clocks differ, so nobody knows how old it is. Presses are judged by the proposal's own time.
 */
const longestUnderWayMs = 120_000;
const isOld = ({ writtenMs }: Command, nowMs: number): boolean =>
  writtenMs !== undefined && Math.abs(nowMs - writtenMs) > longestUnderWayMs;

const tooOld = ({ writtenMs = 0 }: Command, nowMs: number): Refusal =>
  refuse(
    'TooLate',
    writtenMs > nowMs
      ? "Nothing was done: tapfix's clock is behind, so it cannot know when you wrote this. The buttons work."
      : `Nothing was done: you wrote this ${spokenDuration(nowMs - writtenMs)} ago. Write it again if you still want it.`,
  );

/** An empty command, and the one that Telegram's own Start button sends. */
const firstWords: Readonly<Record<string, string>> = { '': 'help', start: 'help' };

export function createCommands(deps: CommandDeps): Commands {
  async function onCommand(command: Command): Promise<Answer> {
    const [name = '', ...words] = command.text.split(/\s+/);
    const row = commands.find((one) => one.name === (firstWords[name.toLowerCase()] ?? name.toLowerCase()));
    if (row === id) return id.run(command, words, deps);
    if (!isOurChat(command, deps)) return deps.audit(command, notHere(command));
    const nowMs = deps.clock.now();
    if (isOld(command, nowMs)) return deps.audit(command, tooOld(command, nowMs));
    if (row) return row.run(command, words, deps);
    return { say: `tapfix has no command ${name.slice(0, 40)}; ${slashOf(command)}help lists them.`, alert: true };
  }
  return { onCommand, commands: commands.map(({ name, does }) => ({ name, does })) };
}
