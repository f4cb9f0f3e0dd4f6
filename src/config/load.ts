import { readFile } from 'node:fs/promises';
import { messageOf, UserError } from '../lib/errors.ts';
import { scrub } from '../lib/log.ts';
import { readText } from './config-file.ts';
import { protoKeys, readDocument } from './document.ts';
import {
  describeProblem,
  exampleHint,
  type Finding,
  findingsIn,
  type Path,
  type Problem,
  problemAt,
} from './problem.ts';
import { type Config, configSchema } from './schema.ts';

/** Tokens belong in the environment, because a file like this ends up in git. Values are never repeated in messages. */
function misplacedTokens(value: unknown, path: Path = []): Finding[] {
  if (typeof value === 'string' || typeof value === 'number') {
    const named = /(token|secret|password)$/i.test(String(path.findLast((step) => typeof step === 'string') ?? ''));
    return named || scrub(String(value)) !== String(value) ? [refusal(path, String(value))] : [];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => misplacedTokens(item, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(scrub(key) === key ? [] : [refusal([...path, key], key)]),
    ...misplacedTokens(inner, [...path, key]),
  ]);
}

function refusal(path: Path, value: string): Finding {
  const name = variableFor(path, value);
  return {
    path,
    message: 'a token does not belong in this file',
    hint: `remove it and set ${name} or ${name}_FILE in the environment`,
  };
}

function variableFor(path: Path, value: string): string {
  if (value.startsWith('xapp-') || path.some((step) => /app_?token/i.test(String(step)))) return 'SLACK_APP_TOKEN';
  return value.startsWith('xox') || path.some((step) => /slack/i.test(String(step)))
    ? 'SLACK_BOT_TOKEN'
    : 'TELEGRAM_BOT_TOKEN';
}

type Parsed = { ok: true; config: Config } | { ok: false; file: string; problems: Problem[] };

/** The configuration with its defaults filled in, or everything that is wrong with the text. */
export function parseConfig(text: string, file: string): Parsed {
  const { value, problems, oddNumbers, lineOf } = readDocument(text);
  if (value === undefined) return { ok: false, file, problems: sorted(problems) };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = value === null ? 'the file is empty' : 'the file must consist of "key: value" lines';
    return {
      ok: false,
      file,
      problems: [...problems, problemAt(1, { path: [], message, hint: exampleHint })],
    };
  }
  const found = [...misplacedTokens(value), ...protoKeys(value)];
  const result = configSchema.safeParse(withoutNulls(value), { reportInput: true });
  const mistakes = (result.error?.issues ?? []).flatMap((issue) => findingsIn(issue, configSchema));
  // A token is not also reported as a wrong chat, nor a name that needs quotes as a number in odd digits.
  const findings = added(added(found, mistakes), oddNumbers);
  if (result.success && findings.length === 0 && problems.length === 0) return { ok: true, config: result.data };
  const placed = findings.map((finding) => problemAt(lineOf(finding.path), finding));
  return { ok: false, file, problems: sorted([...problems, ...placed]) };
}

export async function loadConfig(file: string): Promise<Config> {
  return configIn(await readText(file), file);
}

/** The configuration from this text, or one error that lists all its problems. */
export function configIn(text: string, file: string): Config {
  const parsed = parseConfig(text, file);
  if (parsed.ok) return parsed.config;
  throw new BadConfig(file, parsed.problems);
}

/** Every namespace, and the default of every setting: for commands that were given no file. */
export function defaultConfig(): Config {
  const all = { cluster: 'unknown', namespaces: { include: ['*'] }, channels: { console: {} } };
  return configIn(JSON.stringify(all), 'defaults');
}

/** Lists everything that is wrong with the file, one line each. */
export class BadConfig extends UserError {
  readonly problems: readonly Problem[];
  constructor(file: string, problems: readonly Problem[]) {
    super(reportedOf(problems.map((problem) => describeProblem(file, problem))).join('\n'), 2);
    this.problems = problems;
  }
}

/** Nobody reads more than this. */
const mostReported = 100;

const reportedOf = (lines: readonly string[]): readonly string[] =>
  lines.length <= mostReported
    ? lines
    : [...lines.slice(0, mostReported), `... and ${lines.length - mostReported} more problems`];

/** A key without a value means its default; a channel without settings (`console:`) is still a channel. */
function withoutNulls(value: unknown, path: Path = []): unknown {
  if (value === null) return path.length === 2 && path[0] === 'channels' ? {} : undefined;
  // An empty item of a list stays, because it is a mistake.
  if (Array.isArray(value))
    return value.map((item, index) => (item === null ? null : withoutNulls(item, [...path, index])));
  if (typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutNulls(inner, [...path, key])]));
}

/** The known findings, and those of the others that are not about the same value or a part of it. */
function added(known: readonly Finding[], more: readonly Finding[]): Finding[] {
  const paths = new Set(known.map(({ path }) => JSON.stringify(path)));
  const isCovered = (path: Path): boolean => path.some((_, end) => paths.has(JSON.stringify(path.slice(0, end + 1))));
  return [...known, ...more.filter(({ path }) => !isCovered(path))];
}

const sorted = (problems: readonly Problem[]): Problem[] =>
  problems.toSorted((a, b) => a.line - b.line || (a.path < b.path ? -1 : 1));

type TokenName = 'TELEGRAM_BOT_TOKEN' | 'SLACK_BOT_TOKEN' | 'SLACK_APP_TOKEN';

/** Reads it from the file that `..._FILE` names, else from the variable itself; undefined when neither is set. */
export async function readToken(
  name: TokenName,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const file = env[`${name}_FILE`]?.trim();
  const fromFile = file ? await readTokenFile(`${name}_FILE`, file) : undefined;
  const token = fromFile || env[name]?.trim();
  if (file && !token) throw new UserError(`${name}_FILE names ${file}, which does not exist (yet) or is empty`, 2);
  return token || undefined;
}

async function readTokenFile(variable: string, file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    // An optional Secret that does not exist yet leaves an empty directory.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw new UserError(`${variable} names a file that cannot be read: ${messageOf(error)}`, 2);
  }
}
