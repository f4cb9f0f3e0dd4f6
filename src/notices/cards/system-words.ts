import type { Why } from '../../kube/contact.ts';
import type { NoticeSubject, UnseenPart } from '../../kube/notice.ts';
import { isKnownKind, resources } from '../../kube/resources.ts';
import { unreachable } from '../../lib/errors.ts';
import { hashOf } from '../../lib/hash.ts';
import { counted } from '../../lib/text.ts';
import { encodeTest } from '../payload.ts';
import type { MessageContext } from './card-context.ts';
import type { Card, Message } from './message.ts';
import { timesIn } from './times.ts';

/* Texts in which tapfix reports about itself. */

const whyBlind: Readonly<Record<Why, string>> = {
  unreachable: 'API server unreachable',
  silent: 'nothing heard from the API server',
  forbidden: 'the API server refused everything',
  unauthorized: 'the API server refused its credentials',
  'too large': 'an object was too large to be read',
  failing: 'the API server answered with errors',
};

const whyUnseen: Readonly<Record<Why, string>> = {
  unreachable: 'no answer',
  silent: 'nothing is heard',
  forbidden: 'forbidden',
  unauthorized: 'its credentials are refused',
  'too large': 'an object is too large to be read',
  failing: 'the API server answers with errors',
};

type WordContext = Pick<MessageContext, 'cluster' | 'nowMs' | 'timeZone' | 'notice' | 'nameOf'>;

/** `found`: the number of incidents that were seen only after tapfix could see again. */
export function composeSystem(about: NoticeSubject, found: number, context: WordContext): Message {
  const words = wordsOf(about, found, context);
  const place = about.what === 'hello' ? {} : { subtitle: context.cluster }; // it names the cluster itself
  const card: Card = { dot: 'grey', rows: [], buttons: [], ...words, ...place };
  return { cards: [card], silent: true };
}

/** A hash of what is shown, as for every other message. */
export const systemHash = (about: NoticeSubject, found: number): string => hashOf([about, found]);

type Words = Pick<Card, 'headline' | 'footer'> & Partial<Pick<Card, 'dot' | 'buttons'>>;

function wordsOf(about: NoticeSubject, found: number, context: WordContext): Words {
  switch (about.what) {
    case 'blind':
      return blindWords(about, found, context);
    case 'unseen':
      return unseenWords(about, context);
    case 'refused':
      return refusedWords(about, context);
    case 'shared':
      return sharedWords(about, context);
    case 'hello':
      return helloWords(about, context);
    case 'test':
      return testWords(about, context);
    default:
      return unreachable(about);
  }
}

/** Posted once in each chat. */
function helloWords({ channel, watches }: NoticeSubject & { what: 'hello' }, { cluster }: WordContext): Words {
  const before = channel === 'slack' ? '/tapfix ' : '/';
  return {
    dot: 'hello',
    headline: `tapfix is connected to ${cluster} and watches ${listed(watches)}.`,
    footer: [{ tap: `${before}test`, words: ` sends a harmless card, ${before}help lists commands.` }],
  };
}

function listed(globs: readonly string[]): string {
  if (globs.includes('*')) return 'all namespaces';
  const [last, ...others] = globs.toReversed();
  return others.length === 0 ? `${last}` : `${others.toReversed().join(', ')} and ${last}`;
}

function testWords({ until, by }: NoticeSubject & { what: 'test' }, context: WordContext): Words {
  const at = timesIn(context.timeZone, context.nowMs).atZoned(until);
  if (by) return { dot: 'green', headline: `It works: ${context.nameOf(by)} pressed the button at ${at}`, footer: [] };
  if (until) return { headline: 'This test card has expired; nobody pressed its button', footer: [] };
  const data = context.notice === undefined ? undefined : encodeTest(context.notice);
  return {
    headline: 'A test card: nothing is broken',
    footer: ['Press the button within 10 min to see that presses arrive.'],
    buttons: data ? [[{ label: 'Press me', data }]] : [],
  };
}

function refusedWords(
  { from, until, problem }: NoticeSubject & { what: 'refused' },
  { timeZone, nowMs }: WordContext,
): Words {
  const times = timesIn(timeZone, nowMs);
  if (until)
    return {
      headline: `Configuration change refused at ${times.minuteZoned(from)}, changed again at ${times.minuteZoned(until)}`,
      footer: [`The problem was: ${problem}`],
    };
  return { dot: 'warning', headline: `Configuration change refused, the old one stays: ${problem}`, footer: [] };
}

function sharedWords(
  { channel, sign, from, until }: NoticeSubject & { what: 'shared' },
  { timeZone, nowMs }: WordContext,
): Words {
  const times = timesIn(timeZone, nowMs);
  const [token, bot] = channel === 'telegram' ? ["bot's token", 'bot'] : ["Slack app's token", 'Slack app'];
  if (until)
    return {
      headline: `Another tapfix installation used this ${token} from ${times.minute(from)} to ${times.minuteZoned(until)}. It no longer does`,
      footer: [],
    };
  const known = sign === 'press' ? 'Its buttons were pressed and reached this one.' : 'It is connected as well.';
  return {
    dot: 'warning',
    headline: `Another tapfix installation uses this ${token}. Give each cluster its own ${bot}.`,
    footer: [`Since ${times.minuteZoned(from)}. ${known} A press or a command reaches only one of them.`],
  };
}

function blindWords(about: NoticeSubject & { what: 'blind' }, found: number, { timeZone, nowMs }: WordContext): Words {
  const times = timesIn(timeZone, nowMs);
  const when = `from ${times.minute(about.from)} to ${times.minuteZoned(about.until)}`;
  const news = found > 0 ? `: ${counted(found, 'incident')}` : '';
  return {
    headline: `tapfix could not see the cluster ${when} (${whyBlind[about.why]}). Caught up${news}.`,
    footer: ['What broke and healed in between was not noticed.'],
  };
}

function unseenWords(
  { namespace, parts }: NoticeSubject & { what: 'unseen' },
  { timeZone, nowMs }: WordContext,
): Words {
  const times = timesIn(timeZone, nowMs);
  const open = parts.filter(({ until }) => !until);
  const shown = open.length > 0 ? open : parts;
  const what = `${kindsOf(shown)}${namespace === undefined ? '' : ` in ${namespace}`}`;
  const why = [...new Set(shown.map((part) => whyUnseen[part.why]))].join(', ');
  const [from] = shown.map((part) => part.from).sort();
  if (open.length === 0) {
    const until = times.minuteZoned(
      parts
        .map((part) => part.until!)
        .sort()
        .at(-1),
    );
    return {
      headline: `tapfix could not see ${what} from ${times.minute(from)} to ${until} (${why}). It can again.`,
      footer: [],
    };
  }
  const isForbidden = open.some((part) => part.why === 'forbidden');
  return {
    dot: 'warning',
    headline: `tapfix cannot see ${what} since ${times.minuteZoned(from)}: ${why}`,
    footer: [
      'What only they would show is not noticed meanwhile.',
      ...(isForbidden ? ['The rights come from the ClusterRole tapfix-reader: check it and its bindings.'] : []),
    ],
  };
}

const mostNamed = 3;

function kindsOf(parts: readonly UnseenPart[]): string {
  const names = [...new Set(parts.map(({ kind }) => (isKnownKind(kind) ? resources[kind].plural : kind)))];
  const others = names.length > mostNamed + 1 ? ` and ${names.length - mostNamed} more kinds` : '';
  return `${names.slice(0, others ? mostNamed : mostNamed + 1).join(', ')}${others}`;
}
