import { UserError } from '../lib/errors.ts';
import { readDocument } from './document.ts';
import { misplacedTokens } from './misplaced-tokens.ts';
import { describeProblem, findingsIn, problemAt, type Path, type Problem } from './problem.ts';
import { readText } from './read-text.ts';
import { configSchema, type Config } from './schema.ts';

export type { Problem } from './problem.ts';

export type Parsed = { ok: true; config: Config } | { ok: false; file: string; problems: Problem[] };

/** Everything that is wrong with the text, or the configuration with its defaults filled in. */
export function parseConfig(text: string, file: string): Parsed {
  const { value, problems, lineOf } = readDocument(text);
  if (value === undefined) return { ok: false, file, problems: sorted(problems) };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = value === null ? 'the file is empty' : 'the file must consist of "key: value" lines';
    return {
      ok: false,
      file,
      problems: [...problems, problemAt(1, { path: [], message, hint: 'see config.example.yaml' })],
    };
  }
  const tokens = misplacedTokens(value);
  const result = configSchema.safeParse(withoutNulls(value), { reportInput: true });
  if (result.success && tokens.length === 0 && problems.length === 0) return { ok: true, config: result.data };
  const mistakes = (result.error?.issues ?? [])
    .flatMap((issue) => findingsIn(issue, configSchema))
    .filter(({ path }) => !tokens.some((token) => isWithin(path, token.path)));
  const findings = [...tokens, ...mistakes].map((finding) => problemAt(lineOf(finding.path), finding));
  return { ok: false, file, problems: sorted([...problems, ...findings]) };
}

export async function loadConfig(file: string): Promise<Config> {
  const parsed = parseConfig(await readText(file), file);
  if (parsed.ok) return parsed.config;
  throw new UserError(parsed.problems.map((problem) => describeProblem(file, problem)).join('\n'), 2);
}

/** A key without a value means its default; a channel without settings (`console:`) is still a channel. */
function withoutNulls(value: unknown, path: Path = []): unknown {
  if (value === null) return path.length === 2 && path[0] === 'channels' ? {} : undefined;
  // In lists an empty item stays: it is a mistake.
  if (Array.isArray(value))
    return value.map((item, index) => (item === null ? null : withoutNulls(item, [...path, index])));
  if (typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutNulls(inner, [...path, key])]));
}

const isWithin = (path: Path, outer: Path): boolean => outer.every((step, index) => path[index] === step);

const sorted = (problems: readonly Problem[]): Problem[] =>
  problems.toSorted((a, b) => a.line - b.line || (a.path < b.path ? -1 : 1));
