import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type Document, type Node } from 'yaml';
import { messageOf } from '../lib/errors.ts';
import { pathText, problemAt, type Finding, type Path, type Problem } from './problem.ts';

/** More aliases than a person writes; what is nested to blow up memory has many more. */
const maxAliasCount = 50;

export interface ReadDocument {
  /** Plain data; undefined when the text is not usable YAML. */
  value: unknown;
  problems: Problem[];
  /** The line of a path's key, or of the closest parent that exists. */
  lineOf(path: Path): number;
}

/** YAML to data, with all that is wrong with it as YAML. It never throws and never quotes the text. */
export function readDocument(text: string): ReadDocument {
  try {
    return read(text);
  } catch (error) {
    const deep = error instanceof RangeError;
    const message = deep ? 'is nested too deeply' : `cannot be read as YAML: ${messageOf(error)}`;
    return { value: undefined, problems: [problemAt(1, { path: [], message })], lineOf: () => 1 };
  }
}

function read(text: string): ReadDocument {
  const lines = new LineCounter();
  // Pretty errors would quote the line, and the line may hold a token.
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  });
  const lastLine = text.trimEnd().split('\n').length;
  const lineAt = (offset = 0): number => Math.min(Math.max(1, lines.linePos(offset).line), lastLine);
  const lineOf = (path: Path): number => lineAt(offsetOf(document, path));
  const syntax = document.errors.map((error) =>
    problemAt(lineAt(error.pos[0]), {
      path: [],
      message: `not valid YAML: ${plainWords[error.code] ?? error.message}`,
      hint: yamlHints[error.code],
    }),
  );
  if (syntax.length > 0) return { value: undefined, problems: onceEach(syntax), lineOf };
  const twice = duplicates(document.contents, [], (offset, finding) => problemAt(lineAt(offset), finding));
  try {
    return { value: document.toJS({ maxAliasCount }), problems: twice, lineOf };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { value: undefined, problems: [...twice, aliasProblem(error, lineAt(brokenAlias(document)))], lineOf };
  }
}

/** One missing bracket can make the parser complain hundreds of times. */
const onceEach = (problems: readonly Problem[]): Problem[] =>
  problems.filter(({ line, message }, index) =>
    problems.slice(0, index).every((other) => other.line !== line || other.message !== message),
  );

const starHint = 'a value that begins with * needs quotes: "*-prod"';

/** Where the parser's own words are meant for programmers. */
const plainWords: Record<string, string | undefined> = {
  MULTIPLE_DOCS: 'a second document begins here',
  MISSING_CHAR: 'a closing quote or bracket is missing here or above',
};

const yamlHints: Record<string, string | undefined> = {
  TAB_AS_INDENT: 'indent with spaces',
  BAD_ALIAS: starHint,
  BAD_SCALAR_START: 'put the value in quotes',
  MULTIPLE_DOCS: 'one document per file: remove the --- line',
  BLOCK_AS_IMPLICIT_KEY: 'check the indentation, and put values that contain ": " in quotes',
};

function aliasProblem(error: ReferenceError, line: number): Problem {
  if (error.message.includes('Excessive')) return problemAt(1, { path: [], message: 'uses too many aliases' });
  const message = 'not valid YAML: an alias (*name) without its anchor (&name)';
  return problemAt(line, { path: [], message, hint: starHint });
}

function brokenAlias(document: Document): number | undefined {
  let offset: number | undefined;
  visit(document, {
    Alias: (_key, alias) => {
      if (alias.resolve(document)) return undefined;
      offset = alias.range?.[0];
      return visit.BREAK;
    },
  });
  return offset;
}

type Report = (offset: number | undefined, finding: Finding) => Problem;

function duplicates(node: unknown, path: Path, report: Report): Problem[] {
  if (isSeq(node)) return node.items.flatMap((item, index) => duplicates(item, [...path, index], report));
  if (!isMap(node)) return [];
  const seen = new Set<string>();
  return node.items.flatMap(({ key, value }) => {
    const name = keyText(key);
    const here = [...path, name];
    const again = seen.has(name) ? [report((key as Node).range?.[0], twice(here))] : [];
    seen.add(name);
    return [...again, ...duplicates(value, here, report)];
  });
}

const twice = (path: Path): Finding => ({
  path,
  message: 'appears twice',
  hint: `keep one ${pathText(path.slice(-1))}`,
});

const keyText = (key: unknown): string => String(isScalar(key) ? key.value : key);

function offsetOf(document: Document, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      // The last of two equal keys is the one in force.
      const pair = node.items.findLast(({ key }) => keyText(key) === String(step));
      if (!pair) break;
      offset = (pair.key as Node).range?.[0];
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number' && node.items[step]) {
      node = node.items[step];
      offset = (node as Node).range?.[0];
    } else break;
  }
  return offset;
}
