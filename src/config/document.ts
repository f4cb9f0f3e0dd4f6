import { isAlias, isMap, isSeq, LineCounter, parseDocument, visit, type Document, type Node, type YAMLMap } from 'yaml';
import { messageOf } from '../lib/errors.ts';
import { exampleHint, pathText, problemAt, type Finding, type Path, type Problem } from './problem.ts';
import { aliasHint, depthHint, keyText, structureOf, type Misshapen } from './structure.ts';

/** More aliases than a person writes; what is nested to blow up memory has many more. */
const maxAliasCount = 50;

export interface ReadDocument {
  /** Plain data; undefined when the text is not usable YAML. */
  value: unknown;
  problems: Problem[];
  /** Wrong only where a number is wanted at all. */
  oddNumbers: readonly Finding[];
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
    return unusable([problemAt(1, { path: [], message, hint: deep ? depthHint : exampleHint })]);
  }
}

const unusable = (problems: Problem[]): ReadDocument => ({
  value: undefined,
  problems,
  oddNumbers: [],
  lineOf: () => 1,
});

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
  const offsetOf = offsets(document);
  const lineOf = (path: Path): number => lineAt(offsetOf(path));
  const syntax = document.errors.map((error) =>
    problemAt(lineAt(error.pos[0]), {
      path: [],
      message: `not valid YAML: ${plainWords[error.code] ?? error.message}`,
      hint: yamlHints[error.code] ?? 'check the indentation and the quotes here and above',
    }),
  );
  if (syntax.length > 0) return unusable(onceEach(syntax));
  const structure = structureOf(document);
  const misshapen = structure.unusable.map(({ offset, ...finding }: Misshapen) => problemAt(lineAt(offset), finding));
  if (misshapen.length > 0) return unusable(misshapen);
  const twice = duplicates(document.contents, [], (offset, finding) => problemAt(lineAt(offset), finding));
  try {
    return { value: document.toJS({ maxAliasCount }), problems: twice, oddNumbers: structure.oddNumbers, lineOf };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return unusable([...twice, aliasProblem(error, lineAt(brokenAlias(document)))]);
  }
}

/** One missing bracket can make the parser complain hundreds of times. */
function onceEach(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map((problem) => [`${problem.line} ${problem.message}`, problem])).values()];
}

const starHint = 'a value that begins with * needs quotes: "*-prod"';

/** Where the parser's own words are meant for programmers. */
const plainWords: Record<string, string | undefined> = {
  MULTIPLE_DOCS: 'a second document begins here',
  MISSING_CHAR: 'a closing quote or bracket is missing here or above',
  RESOURCE_EXHAUSTION: 'it is nested too deeply',
};

const yamlHints: Record<string, string | undefined> = {
  TAB_AS_INDENT: 'indent with spaces',
  BAD_ALIAS: starHint,
  BAD_SCALAR_START: 'put the value in quotes',
  MULTIPLE_DOCS: 'one document per file: remove the --- line',
  MISSING_CHAR: 'close it, or put the whole value in quotes',
  RESOURCE_EXHAUSTION: depthHint,
  BLOCK_AS_IMPLICIT_KEY: 'check the indentation, and put values that contain ": " in quotes',
};

function aliasProblem(error: ReferenceError, line: number): Problem {
  if (error.message.includes('Excessive'))
    return problemAt(1, { path: [], message: 'uses too many aliases', hint: aliasHint });
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

/** Where in the text a path is. Each group's keys are indexed once: there may be as many problems as keys. */
function offsets(document: Document): (path: Path) => number | undefined {
  const indexes = new Map<YAMLMap, Map<string, YAMLMap['items'][number]>>();
  function pairIn(map: YAMLMap, key: string) {
    // The last of two equal keys is the one in force.
    const index = indexes.get(map) ?? new Map(map.items.map((pair) => [keyText(pair.key), pair]));
    indexes.set(map, index);
    return index.get(key);
  }

  return (path) => {
    let node: unknown = document.contents;
    let offset: number | undefined;
    for (const step of path) {
      if (isAlias(node)) node = node.resolve(document);
      if (isMap(node)) {
        const pair = pairIn(node, String(step));
        if (!pair) break;
        offset = (pair.key as Node).range?.[0];
        node = pair.value;
      } else if (isSeq(node) && typeof step === 'number' && node.items[step]) {
        node = node.items[step];
        offset = (node as Node).range?.[0];
      } else break;
    }
    return offset;
  };
}
