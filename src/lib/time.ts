/** "03:12:05 CET": absolute and with its zone, because a message is read later and elsewhere. */
export function clockTime(ms: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  }).format(ms);
}

export const localTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
