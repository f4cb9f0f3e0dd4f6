import type { Remediation } from '../kube/remediation.ts';
import { hashOf, longUid, shortUid } from '../lib/hash.ts';
import type { Button } from './cards/message.ts';

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
const shape = new RegExp(`^([${Object.keys(verbs).join('')}]):([A-Za-z0-9_-]{22}):([0-9a-f]{10})$`);

export const verbIn = (data: string): string => data.split(':')[0] ?? '';

export interface Payload {
  verb: Verb;
  uid: string;
  /** Hash of the action and preview that were on screen. */
  shown: string;
}

/** Telegram's limit, and ours for every channel: https://core.telegram.org/bots/api#inlinekeyboardbutton */
const maxPayloadBytes = 64;

/** An approval is bound to what people saw: the action and its rehearsed diff. */
export const shownHash = (fix: Remediation): string =>
  hashOf([fix.spec.action ?? null, fix.status?.preview?.diff ?? '', fix.status?.preview?.targetHash ?? ''], 10);

export function encodePress(verb: Verb, fix: Remediation): string {
  const data = `${verb}:${shortUid(fix.metadata.uid)}:${shownHash(fix)}`;
  if (Buffer.byteLength(data) > maxPayloadBytes) throw new RangeError(`button payload too long: ${data}`);
  return data;
}

/** undefined for data that none of our buttons can have sent. */
export function decodePress(data: string): Payload | undefined {
  const parts = shape.exec(data);
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
const written = ({ notice, page }: PageRef): string => `${shortUid(notice)}:${page}`;
const pattern = '([A-Za-z0-9_-]{22}):([1-9][0-9]{0,2})';
const shows = new RegExp(`^p:${pattern}$`);
const acts = new RegExp(`^([a-z]:.+):${pattern}$`);

/** The payload that opens this page; undefined for a Notice whose name is not ours. */
export const encodePage = (ref: PageRef): string | undefined => (isName(ref.notice) ? `p:${written(ref)}` : undefined);

/** The payload of "I'm on it" for all members of a message. */
export const encodeAll = (notice: string): string | undefined => (isName(notice) ? `o:${shortUid(notice)}` : undefined);

/** The name of the Notice. */
export function decodeAll(data: string): string | undefined {
  const [, notice] = /^o:([A-Za-z0-9_-]{22})$/.exec(data) ?? [];
  return notice && longUid(notice)?.replaceAll('-', '');
}

/** The same button on a page. It carries the page, so that the page can be shown again afterwards. */
export function onPage(button: Button, ref: PageRef): Button {
  const data = `${button.data}:${written(ref)}`;
  if (Buffer.byteLength(data) > maxPayloadBytes) throw new RangeError(`button payload too long: ${data}`);
  return { ...button, data };
}

/** The press on a page: the page alone, or a button with its own payload. undefined if it was not on a page. */
export function decodePage(data: string): { ref: PageRef; inner?: string } | undefined {
  const shown = shows.exec(data);
  const [inner, notice, page] = shown ? [undefined, shown[1], shown[2]] : (acts.exec(data)?.slice(1) ?? []);
  const name = notice && longUid(notice)?.replaceAll('-', '');
  return name ? { ref: { notice: name, page: Number(page) }, ...(inner && { inner }) } : undefined;
}
