const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** "90s", "1h30m", "0s" to milliseconds; undefined when it is not a duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(ms|[smhd]))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)(ms|[smhd])/g)) total += Number(amount) * (unitMs[unit!] ?? 0);
  return Number.isSafeInteger(total) ? total : undefined;
}

/** For people: "41 s", "6 min", "3 h", "6 days". */
export function spokenDuration(ms: number): string {
  if (ms < 10_000) return `${(Math.max(ms, 0) / 1000).toFixed(1).replace(/\.0$/, '')} s`;
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} days`;
}

export const localTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
