import type { Verb as Letter } from '../press.ts';
import type { Verb } from '../verb.ts';
import { acknowledge } from './acknowledge.ts';
import { again } from './again.ts';
import { approve, confirm } from './approve.ts';
import { back } from './back.ts';
import { details } from './details.ts';
import { reject } from './reject.ts';
import { snooze } from './snooze.ts';

/** What each letter of a button's payload (notices/payload.ts) does. */
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
