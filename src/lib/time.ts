export const localTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
