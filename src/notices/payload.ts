import type { Remediation } from '../kube/remediation.ts';
import { hashOf, longUid, shortHashOf, shortUid } from '../lib/hash.ts';
import type { Button } from './cards/message.ts';

/**
 * A button carries, without separators: the verb (1 character), the Remediation's uid (22), a hash of what was on
 * screen (7); on a page of a list also the Notice (22) and the page (3). On its way to the vendor the installation (4) is
 * added: 59 bytes at most. Messages that were posted by earlier versions have the old form, with colons and a longer
 * hash; it is still read.
 */

/** The meaning of a button, by the first letter of its payload. */
const verbs = {
  a: 'approve',
  r: 'reject',
  c: 'confirm', // "Yes, delete..."
  b: 'back',
  k: 'acknowledge', // "I'm on it"
  z: 'snooze',
  d: 'details',
  g: 'propose again',
} as const;
export type Verb = keyof typeof verbs;

const letters = `[${Object.keys(verbs).join('')}]`;
const [id, digits] = ['[A-Za-z0-9_-]{22}', '[0-9]{3}'];
const press = `${letters}${id}[A-Za-z0-9_-]{7}`;
const shapes = {
  press: new RegExp(`^(${letters})(${id})([A-Za-z0-9_-]{7})$`),
  page: new RegExp(`^p(${id})(${digits})$`),
  pressOnPage: new RegExp(`^(${press})(${id})(${digits})$`),
  all: new RegExp(`^o(${id})$`),
  test: new RegExp(`^t(${id})$`),
} as const;
const oldShapes = {
  press: new RegExp(`^(${letters}):(${id}):([0-9a-f]{10})$`),
  page: new RegExp(`^p:(${id}):([1-9][0-9]{0,2})$`),
  pressOnPage: new RegExp(`^([a-z]:.+):(${id}):([1-9][0-9]{0,2})$`),
  all: new RegExp(`^o:(${id})$`),
} as const;
const matched = (data: string, shape: keyof typeof oldShapes): RegExpExecArray | null =>
  shapes[shape].exec(data) ?? oldShapes[shape].exec(data);

/** The letter of the verb. */
export const verbIn = (data: string): string => data.slice(0, 1);

export interface Payload {
  verb: Verb;
  uid: string;
  /** Hash of the action and preview that were on screen. */
  shown: string;
}

const onScreen = ({ spec, status }: Remediation): unknown[] => [
  spec.action ?? null,
  status?.preview?.diff ?? '',
  status?.preview?.targetHash ?? '',
];

/** An approval is bound to what people saw: the action and its rehearsed diff. */
export const shownHash = (fix: Remediation): string => shortHashOf(onScreen(fix), 7);

/** Whether that is what a button of this version, or of an earlier one, was shown with. */
export const isShown = (shown: string, fix: Remediation): boolean =>
  shown === shownHash(fix) || shown === hashOf(onScreen(fix), 10);

export const encodePress = (verb: Verb, fix: Remediation): string =>
  `${verb}${shortUid(fix.metadata.uid)}${shownHash(fix)}`;

/** undefined for data that none of our buttons can have sent. */
export function decodePress(data: string): Payload | undefined {
  const parts = matched(data, 'press');
  const uid = parts && longUid(parts[2]!);
  return uid ? { verb: parts[1] as Verb, uid, shown: parts[3]! } : undefined;
}

/** A page of the list of all members of a message. No state is kept: the button carries the page. */
export interface PageRef {
  /** The name of its Notice. */
  notice: string;
  /** From 1. */
  page: number;
}
const isName = (notice: string): boolean => /^[0-9a-f]{32}$/.test(notice);
/** A message holds at most 1000 members, so three digits are enough for the page. */
const written = ({ notice, page }: PageRef): string => `${shortUid(notice)}${String(page).padStart(3, '0')}`;

/** The payload that opens this page; undefined for a Notice whose name is not ours. */
export const encodePage = (ref: PageRef): string | undefined => (isName(ref.notice) ? `p${written(ref)}` : undefined);

/** The payload of "I'm on it" for all members of a message. */
export const encodeAll = (notice: string): string | undefined => (isName(notice) ? `o${shortUid(notice)}` : undefined);

/** The name of the Notice. */
export function decodeAll(data: string): string | undefined {
  const [, notice] = matched(data, 'all') ?? [];
  return notice && longUid(notice)?.replaceAll('-', '');
}

/** The payload of the button on a test card. */
export const encodeTest = (notice: string): string | undefined => (isName(notice) ? `t${shortUid(notice)}` : undefined);

/** The name of its Notice. */
export function decodeTest(data: string): string | undefined {
  const notice = shapes.test.exec(data)?.[1];
  return notice && longUid(notice)?.replaceAll('-', '');
}

/** The same button on a page. It carries the page, so that the page can be shown again afterwards. */
export const onPage = (button: Button, ref: PageRef): Button => ({ ...button, data: `${button.data}${written(ref)}` });

/** The press on a page: the page alone, or a button with its own payload. undefined if it was not on a page. */
export function decodePage(data: string): { ref: PageRef; inner?: string } | undefined {
  const shown = matched(data, 'page');
  const [inner, notice, page] = shown
    ? [undefined, shown[1], shown[2]]
    : (matched(data, 'pressOnPage')?.slice(1) ?? []);
  const name = notice && longUid(notice)?.replaceAll('-', '');
  return name && Number(page) > 0 ? { ref: { notice: name, page: Number(page) }, ...(inner && { inner }) } : undefined;
}

/** Telegram's limit, and ours for every channel: https://core.telegram.org/bots/api#inlinekeyboardbutton */
const maxPayloadBytes = 64;
const installationLength = 4;

/** Names an installation: 24 bits tell those that share a bot apart. */
export const installationId = (...of: readonly string[]): string => shortHashOf(of, installationLength);

/** The payload for the vendor: several installations may share one bot, and each press says whose button it was. */
export function sealPayload(data: string, installation: string): string {
  const sealed = `${data}${installation}`;
  if (Buffer.byteLength(sealed) > maxPayloadBytes) throw new RangeError(`button payload too long: ${sealed}`);
  return sealed;
}

/**
 * The payload itself; undefined if it is a button of another installation. An old button names none, and is judged by
 * its Remediation.
 */
export function openPayload(data: string, own: readonly string[]): string | undefined {
  const [payload, installation] = [data.slice(0, -installationLength), data.slice(-installationLength)];
  const isSealed = Object.values(shapes).some((shape) => shape.test(payload));
  if (!isSealed) return data;
  return own.includes(installation) ? payload : undefined;
}
