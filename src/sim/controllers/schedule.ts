/** One field of a cron line, as the set of values it allows. */
type Field = ReadonlySet<number>;

export interface Schedule {
  minute: Field;
  hour: Field;
  day: Field;
  month: Field;
  weekday: Field;
  /** Of day and weekday one is enough, when both are given. */
  eitherDay: boolean;
}

const nicknames: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** undefined when it is none. */
export function parseSchedule(text: string): Schedule | undefined {
  const parts = (nicknames[text.trim()] ?? text).trim().split(/\s+/);
  if (parts.length !== 5) return undefined;
  const [minute, hour, day, month, weekday] = [
    field(parts[0]!, 0, 59),
    field(parts[1]!, 0, 23),
    field(parts[2]!, 1, 31),
    field(named(parts[3]!, months, 1), 1, 12),
    field(named(parts[4]!, weekdays, 0), 0, 6),
  ];
  if (!minute || !hour || !day || !month || !weekday) return undefined;
  const eitherDay = !/^[*?]/.test(parts[2]!) && !/^[*?]/.test(parts[4]!);
  return { minute, hour, day, month, weekday, eitherDay };
}

const named = (text: string, names: readonly string[], first: number): string =>
  names.reduce((so, name, index) => so.replaceAll(new RegExp(name, 'gi'), String(index + first)), text);

function field(text: string, min: number, max: number): Field | undefined {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [, range = '', step] = /^(\*|\?|\d+|\d+-\d+)(?:\/(\d+))?$/.exec(part) ?? [];
    if (!range || step === '0') return undefined;
    const [from, to] = /^[*?]$/.test(range) ? [min, max] : (range.split('-').map(Number) as [number, number?]);
    const end = to ?? (step ? max : from);
    if (from < min || end > max || from > end) return undefined;
    for (let value = from; value <= end; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

const dayMs = 86_400_000;
const longestSearchMs = 5 * 366 * dayMs;

/** The first time after this one, in UTC; undefined when there is none in five years (the 31st of February). */
export function nextTimeMs(schedule: Schedule, afterMs: number): number | undefined {
  const { minute, hour, day, month, weekday, eitherDay } = schedule;
  const isDay = (date: Date): boolean => {
    const hits = [day.has(date.getUTCDate()), weekday.has(date.getUTCDay())];
    return month.has(date.getUTCMonth() + 1) && (eitherDay ? hits.some(Boolean) : hits.every(Boolean));
  };
  let ms = (Math.floor(afterMs / 60_000) + 1) * 60_000;
  while (ms - afterMs < longestSearchMs) {
    const date = new Date(ms);
    if (!isDay(date)) ms = (Math.floor(ms / dayMs) + 1) * dayMs;
    else if (!hour.has(date.getUTCHours())) ms = (Math.floor(ms / 3_600_000) + 1) * 3_600_000;
    else if (!minute.has(date.getUTCMinutes())) ms += 60_000;
    else return ms;
  }
  return undefined;
}
