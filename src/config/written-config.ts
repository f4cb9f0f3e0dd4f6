import { isMap, isScalar, LineCounter, parseAllDocuments, type Document } from 'yaml';
import { UserError } from '../lib/errors.ts';
import { readText } from './config-file.ts';
import { BadConfig, parseConfig } from './load.ts';
import type { Config } from './schema.ts';

const key = 'config.yaml';

interface Unwrapped {
  text: string;
  /** The line of the manifest for a line of the text. */
  lineOf(line: number): number;
}

/**
 * The configuration in a file as people have it: by itself, or inside the ConfigMap that they apply. Every problem names
 * the line of that file. A running tapfix reads the first form alone.
 */
export async function loadWrittenConfig(file: string): Promise<Config> {
  return writtenConfigIn(await readText(file), file);
}

/** The same from a text; one error lists all its problems. */
export function writtenConfigIn(text: string, file: string): Config {
  const { text: inner, lineOf } = unwrapped(text, file) ?? { text, lineOf: (line: number) => line };
  const parsed = parseConfig(inner, file);
  if (parsed.ok) return parsed.config;
  throw new BadConfig(
    file,
    parsed.problems.map((problem) => ({ ...problem, line: lineOf(problem.line) })),
  );
}

/** undefined: it is no ConfigMap, or cannot be read as YAML, which is reported as of any other configuration. */
function unwrapped(text: string, file: string): Unwrapped | undefined {
  if (!/^\s*["']?kind["']?\s*:\s*["']?ConfigMap\b/m.test(text)) return undefined;
  const lines = new LineCounter();
  const maps = documentsIn(text, lines).filter((document) => document.get('kind') === 'ConfigMap');
  if (maps.length === 0) return undefined;
  const values = maps.map((document) => document.getIn(['data', key], true)).filter((value) => isScalar(value));
  const [value] = values;
  if (value === undefined)
    throw new UserError(`${file} is a ConfigMap without data["${key}"], which holds the configuration of tapfix`, 2);
  if (values.length > 1) throw new UserError(`${file} has more than one ConfigMap with data["${key}"]: keep one`, 2);
  const first = lines.linePos(value.range?.[0] ?? 0).line;
  // The lines of a literal block are below the line of its key. In any other form they are not lines of the file.
  const isLiteral = value.type === 'BLOCK_LITERAL';
  return { text: String(value.value), lineOf: (line) => (isLiteral ? first + line : first) };
}

/** Empty for what is no YAML, or is nested too deeply to be read. */
function documentsIn(text: string, lineCounter: LineCounter): Document[] {
  try {
    const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false, logLevel: 'error' });
    return [...documents].filter(({ errors, contents }) => errors.length === 0 && isMap(contents));
  } catch {
    return [];
  }
}
