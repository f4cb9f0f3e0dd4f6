/** What a button's payload means. Cards write it (notices/payload.ts), presses read it: one file knows the format. */
export { decodePress, shownHash } from '../notices/payload.ts';
export type { Payload, Verb } from '../notices/payload.ts';
