import { redact } from '../../lib/redact.ts';

/** How times are written: absolute, in one time zone, with the day only if it is not today. */
export interface Times {
  /** 03:12:05 */
  at(time: string | number | undefined): string;
  /** 03:12:05 CET */
  atZoned(time: string | number | undefined): string;
  /** 03:42 */
  minute(time: string | number | undefined): string;
  /** 03:42 CET */
  minuteZoned(time: string | number | undefined): string;
  /** Texts from elsewhere carry RFC 3339 times. This rewrites them in the local form, and redacts secrets. */
  localised(text: string): string;
}

const rfc3339 = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;

const msOf = (time: string | number | undefined): number =>
  typeof time === 'number' ? time : Date.parse(time ?? 'never');

export function timesIn(timeZone: string, nowMs: number): Times {
  const day = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'short' });
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'medium', hourCycle: 'h23' });
  const today = day.format(nowMs);

  function say(time: string | number | undefined, characters: 5 | 8, zoned: boolean): string {
    const ms = msOf(time);
    if (!Number.isFinite(ms)) return 'at an unknown time';
    const date = day.format(ms) === today ? '' : `${day.format(ms)} `;
    return `${date}${clock.format(ms).slice(0, characters)}${zoned ? ` ${zoneName(timeZone, ms)}` : ''}`;
  }
  return {
    at: (time) => say(time, 8, false),
    atZoned: (time) => say(time, 8, true),
    minute: (time) => say(time, 5, false),
    minuteZoned: (time) => say(time, 5, true),
    localised: (text) => redact(text).replace(rfc3339, (time) => say(time, 8, false)),
  };
}

/** Intl knows "CET" only in British English and "EST" only in American. The first locale that has a name wins. */
function zoneName(timeZone: string, ms: number): string {
  let name = 'UTC';
  for (const locale of ['en-GB', 'en-US', 'en-AU', 'en-IN', 'en-ZA', 'en-NZ']) {
    const parts = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' }).formatToParts(ms);
    name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? name;
    if (!/[+\-−]\d/.test(name)) return name;
  }
  return name;
}
