import type { Dot, Line } from '../notices/message.ts';

export const dots: Readonly<Record<Dot, string>> = {
  red: '🔴',
  orange: '🟠',
  yellow: '🟡',
  blue: '🔵',
  green: '🟢',
  grey: '⚪',
};

export const textOf = (line: Line): string => (typeof line === 'string' ? line : line.code);
