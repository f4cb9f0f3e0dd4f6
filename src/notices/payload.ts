import type { Remediation } from '../kube/remediation.ts';
import { longUid, shortUid } from '../lib/guid.ts';
import { hashOf } from '../lib/hash.ts';

/** What a button says, by the letter that its payload begins with. */
export const verbs = {
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
  /** Of the action and preview that were on screen. */
  shown: string;
}

/** Telegram's limit, and ours for every channel: https://core.telegram.org/bots/api#inlinekeyboardbutton */
const maxPayloadBytes = 64;

/** What people approve is bound to what they saw: the action and its rehearsed diff. */
export const shownHash = (fix: Remediation): string =>
  hashOf([fix.spec.action ?? null, fix.status?.preview?.diff ?? '', fix.status?.preview?.targetHash ?? ''], 10);

export function encodePress(verb: Verb, fix: Remediation): string {
  const data = `${verb}:${shortUid(fix.metadata.uid)}:${shownHash(fix)}`;
  if (Buffer.byteLength(data) > maxPayloadBytes) throw new RangeError(`button payload too long: ${data}`);
  return data;
}

/** undefined for anything that none of our buttons can have sent. */
export function decodePress(data: string): Payload | undefined {
  const parts = shape.exec(data);
  const uid = parts && longUid(parts[2]!);
  return uid ? { verb: parts[1] as Verb, uid, shown: parts[3]! } : undefined;
}
