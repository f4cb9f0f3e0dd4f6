import type { Dot } from '../notices/cards/message.ts';

export const dots: Readonly<Record<Dot, string>> = {
  red: '🔴',
  orange: '🟠',
  yellow: '🟡',
  blue: '🔵',
  green: '🟢',
  grey: '⚪',
  warning: '⚠️',
};

/** Follows "put it back with", before a shorter command that replaces one that does not fit. */
export const insteadOfCommand = 'a command too long for this message; this prints it:';
