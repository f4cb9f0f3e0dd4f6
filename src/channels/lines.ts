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

/** Said after "put it back with", before the command that stands in for one that has no room. */
export const insteadOfCommand = 'a command too long for this message; this prints it:';
