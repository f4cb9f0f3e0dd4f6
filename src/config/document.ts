import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml';
import { messageOf } from '../lib/errors.ts';
import { exampleHint, type Finding, type Path, pathText, type Problem, problemAt } from './problem.ts';

/** More aliases than a person writes; the parser's time to follow them grows with the square of their number. */
const mostAliases = 1_000;
/** Deeper than any configuration; text that is nested to overflow the stack is much deeper. */
const mostAncestors = 100;

const depthHint = 'no setting needs more than a few levels';
const aliasHint = 'write the value out';

/** A mistake in the structure, and where in the text it is. */
interface Misshapen extends Finding {
  offset: number | undefined;
}

interface Structure {
  /** Structures that would make every later walk over the data endless, or overflow its stack. */
  unusable: Misshapen[];
  /** 0x10, 1e3, 007: numbers that another reader may take for different ones. */
  oddNumbers: Misshapen[];
}

type Ancestors = readonly (Document | Node | Pair)[];

/** One walk over the parsed text, before it becomes data. */
function structureOf(document: Document): Structure {
  const found: Structure = { unusable: [], oddNumbers: [] };
  const anchors = new Map<string, Node>();
  let aliases = 0;

  function node(_key: unknown, here: Node & { anchor?: string }, ancestors: Ancestors): symbol | undefined {
    if (here.anchor) anchors.set(here.anchor, here);
    if (ancestors.length <= mostAncestors) return undefined;
    const path = pathOf(ancestors, here).slice(0, 1); // the whole path would fill the screen
    found.unusable.push({ path, message: 'is nested too deeply', hint: depthHint, offset: here.range?.[0] });
    return visit.BREAK;
  }

  function alias(_key: unknown, here: Alias, ancestors: Ancestors): symbol | undefined {
    aliases += 1;
    const target = anchors.get(here.source);
    // An anchor comes before its aliases, so each circle has an alias that is inside the node that it refers to.
    if (target && ancestors.includes(target)) found.unusable.push(circle(here, ancestors));
    if (aliases <= mostAliases) return undefined;
    found.unusable.push({ path: [], message: 'uses too many aliases', hint: aliasHint, offset: 0 });
    return visit.BREAK;
  }

  function scalar(key: unknown, here: Scalar, ancestors: Ancestors): symbol | undefined {
    if (key !== 'key' && isOdd(here)) found.oddNumbers.push(oddNumber(here, ancestors));
    return node(key, here, ancestors);
  }

  visit(document, { Node: node, Alias: alias, Scalar: scalar });
  return found;
}

const circle = (alias: Alias, ancestors: Ancestors): Misshapen => ({
  path: pathOf(ancestors, alias),
  message: 'an alias that contains itself',
  hint: aliasHint,
  offset: alias.range?.[0],
});

const isOdd = ({ value, source }: Scalar): boolean =>
  Number.isSafeInteger(value) && source !== undefined && source !== String(value);

const oddNumber = (scalar: Scalar, ancestors: Ancestors): Misshapen => ({
  path: pathOf(ancestors, scalar),
  message: 'must be a number in plain digits',
  hint: `${scalar.source?.slice(0, 40)} is read as ${String(scalar.value)}`,
  offset: scalar.range?.[0],
});

const keyText = (key: unknown): string => String(isScalar(key) ? key.value : key);

function pathOf(ancestors: Ancestors, node: Node): Path {
  const chain = [...ancestors, node];
  return chain.flatMap((parent, index): Path => {
    const child = chain[index + 1];
    if (isPair(parent)) return child === parent.value ? [keyText(parent.key)] : [];
    return isSeq(parent) ? [parent.items.indexOf(child)] : [];
  });
}

/** The schema library silently drops this one key; here every unknown key is refused. */
export function protoKeys(value: unknown, path: Path = []): Finding[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => protoKeys(item, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...path, key];
    return key === '__proto__' ? [refusal(here)] : protoKeys(inner, here);
  });
}

const refusal = (path: Path): Finding => ({
  path,
  message: path.length === 2 && path[0] === 'classes' ? 'there is no class "__proto__"' : 'is not a known key',
  hint: 'remove it',
});

/** More aliases than a person writes; text that is made to fill the memory has many more. */
const maxAliasCount = 50;

interface ReadDocument {
  /** Plain data; undefined when the text is not usable YAML. */
  value: unknown;
  problems: Problem[];
  /** A mistake only where a number is expected. */
  oddNumbers: readonly Finding[];
  /** The line of a path's key, or of the closest parent that exists. */
  lineOf(path: Path): number;
}

/** Turns YAML into data, with everything that is wrong with it as YAML. It never throws and never quotes the text. */
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
  // Pretty errors would quote the line, and the line may contain a token.
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

/** Replaces the parser's messages that are meant for programmers. */
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

/**
 * Finds where in the text a path is. The keys of each group are indexed once, because there may be as many problems as
 * keys.
 */
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
