import { z } from 'zod';
import { parseDuration } from '../lib/duration.ts';
import { didYouMean } from '../lib/text.ts';
import { humanDuration } from './human.ts';

/** The mistake in one value, worded to follow its path: "cluster: is missing". */
export interface Wrong {
  wrong: string;
  /** The text to write instead. */
  hint: string;
}
const isWrong = (value: unknown): value is Wrong => typeof value === 'object' && value !== null && 'wrong' in value;

export function addIssue(context: z.core.$RefinementCtx, { wrong, hint }: Wrong, path?: PropertyKey[]): void {
  context.addIssue({ code: 'custom', message: wrong, params: { hint }, ...(path && { path }) });
}

/** A single value with its own reader, so that every mistake gets its own sentence. */
function field<T>(read: (value: unknown) => T | Wrong, ifMissing = 'give it a value') {
  return z.unknown().transform((value, context): T => {
    const result: T | Wrong = value === undefined ? { wrong: 'is missing', hint: ifMissing } : read(value);
    if (!isWrong(result)) return result;
    addIssue(context, result);
    return z.NEVER;
  });
}

const kindOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'a list';
  if (value === null) return 'empty';
  if (typeof value === 'object') return 'a group of keys';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
};

/** No name in Kubernetes or chat is longer. */
const longestText = 253;

function readText(value: unknown, what: string, pattern: RegExp, hint: string): string | Wrong {
  if (typeof value === 'number') return { wrong: `must be ${what}, not a number`, hint: 'put it in quotes' };
  if (typeof value !== 'string') return { wrong: `must be ${what}, not ${kindOf(value)}`, hint };
  if (!value.trim()) return { wrong: 'must not be empty', hint };
  if (value.length > longestText)
    return { wrong: `must not be longer than ${longestText} characters`, hint: 'shorten it' };
  if (/\p{Cc}/u.test(value))
    return {
      wrong: 'must be one line without control characters',
      hint: 'write it in one line, without | or > or \\n',
    };
  return pattern.test(value) ? value : { wrong: `must be ${what}`, hint };
}

/** A string of the form that `pattern` describes; `hint` says what it should look like. */
export const text = (what: string, pattern: RegExp, hint: string, ifMissing = hint) =>
  field<string>((value) => readText(value, what, pattern, hint), ifMissing);

/** Any text that is not empty. */
export const anyText = (what: string, hint: string) => text(what, /\S/, hint);

/** An id of digits, which YAML reads as a number. Above 2^53 such a number has already lost its last digits. */
export const numericId = (what: string, pattern: RegExp, hint: string, ifMissing = hint) =>
  field<string>((value) => {
    if (typeof value !== 'number') return readText(value, what, pattern, hint);
    const isId = Number.isSafeInteger(value) && pattern.test(String(value));
    return isId ? String(value) : { wrong: `must be ${what}`, hint };
  }, ifMissing);

export const namespaceGlob = text(
  'a namespace name or a pattern like "shop-*"',
  /^[a-z0-9*?-]+$/,
  'lower-case letters, digits and dashes; * matches any run of them, ? one',
);

export const oneOf = <const T extends string>(known: readonly T[]) =>
  field<T>((value) => {
    const found = known.find((word) => word === value);
    if (found !== undefined) return found;
    if (typeof value !== 'string')
      return { wrong: `must be a name, not ${kindOf(value)}`, hint: didYouMean('', known) };
    return { wrong: `${JSON.stringify(value.slice(0, 60))} is not known`, hint: didYouMean(value, known) };
  });

/** Almost every value with limits has a default as well. */
const beyond = (min: string, max: string, value: string, isTooLittle: boolean, isRequired = false): Wrong => ({
  wrong: `must be between ${min} and ${max}, not ${value}`,
  hint: `${isTooLittle ? `${min} at least` : `${max} at most`}${isRequired ? '' : '; without the key it has its default'}`,
});

export const whole = (min: number, max: number) =>
  field<number>((value) => {
    if (typeof value !== 'number' || !Number.isInteger(value))
      return {
        wrong: `must be a whole number, not ${typeof value === 'number' ? String(value) : kindOf(value)}`,
        hint: typeof value === 'string' && /^\d+$/.test(value) ? 'without quotes' : 'digits only',
      };
    const isWithin = value >= min && value <= max;
    return isWithin ? value : beyond(String(min), String(max), String(value), value < min);
  });

export const yesOrNo = field<boolean>((value) =>
  typeof value === 'boolean'
    ? value
    : {
        wrong: `must be true or false, not ${kindOf(value)}`,
        hint: 'the bare word true or false; in quotes it is text, and so are yes and no',
      },
);

const minute = 60_000;

const noWholeMinutes = (ms: number): Wrong => ({
  wrong: `must be whole minutes, not ${humanDuration(ms)}`,
  hint: `such as ${humanDuration(Math.ceil(ms / minute) * minute)}`,
});

/** "30m" in the file, milliseconds after loading. */
export const duration = (min: string, max: string, options: { wholeMinutes?: boolean; required?: boolean } = {}) =>
  field<number>((value) => {
    const hint = 'a number with its unit, such as 30s, 5m or 1h30m';
    if (typeof value !== 'string') return { wrong: `must be a duration, not ${kindOf(value)}`, hint };
    const ms = parseDuration(value);
    if (ms === undefined) return { wrong: `${JSON.stringify(value.slice(0, 60))} is not a duration`, hint };
    const isTooLittle = ms < parseDuration(min)!;
    if (isTooLittle || ms > parseDuration(max)!)
      return beyond(min, max, humanDuration(ms), isTooLittle, options.required);
    return options.wholeMinutes && ms % minute !== 0 ? noWholeMinutes(ms) : ms;
  });

export const url = (options: { orEmpty?: boolean } = {}) =>
  field<string>((value) => {
    if (options.orEmpty && value === '') return '';
    const hint = 'such as https://example.com/path';
    if (typeof value !== 'string' || !URL.canParse(value)) return { wrong: 'must be a URL', hint };
    const { protocol, username, password } = new URL(value);
    if (protocol !== 'https:' && protocol !== 'http:') return { wrong: 'must be an http or https URL', hint };
    if (!username && !password) return value;
    return { wrong: 'must not contain a user name or password', hint: 'remove what stands between // and @' };
  });

export const nonEmptyListOf = <T extends z.ZodType>(item: T, hint: string) =>
  z.array(item).superRefine((list, context) => {
    if (list.length === 0) addIssue(context, { wrong: 'must list at least one', hint });
  });
