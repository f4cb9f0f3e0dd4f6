import { isPair, isScalar, isSeq, visit, type Alias, type Document, type Node, type Pair, type Scalar } from 'yaml';
import type { Finding, Path } from './problem.ts';

/** More aliases than a person writes; the parser takes the square of their number to follow them. */
const mostAliases = 1_000;
/** Deeper than any configuration; what is nested to use up the stack is much deeper. */
const mostAncestors = 100;

export const depthHint = 'no setting needs more than a few levels';
export const aliasHint = 'write the value out';

/** A mistake in the structure, and where in the text it is. */
export interface Misshapen extends Finding {
  offset: number | undefined;
}

export interface Structure {
  /** What would send every later walk of the data in circles, or out of its stack. */
  unusable: Misshapen[];
  /** 0x10, 1e3, 007: numbers that another reader may take for another one. */
  oddNumbers: Misshapen[];
}

type Ancestors = readonly (Document | Node | Pair)[];

/** One walk over the parsed text, before it becomes data. */
export function structureOf(document: Document): Structure {
  const found: Structure = { unusable: [], oddNumbers: [] };
  const anchors = new Map<string, Node>();
  let aliases = 0;

  function node(_key: unknown, here: Node & { anchor?: string }, ancestors: Ancestors): symbol | undefined {
    if (here.anchor) anchors.set(here.anchor, here);
    if (ancestors.length <= mostAncestors) return undefined;
    const path = pathOf(ancestors, here).slice(0, 1); // the whole of it would fill the screen
    found.unusable.push({ path, message: 'is nested too deeply', hint: depthHint, offset: here.range?.[0] });
    return visit.BREAK;
  }

  function alias(_key: unknown, here: Alias, ancestors: Ancestors): symbol | undefined {
    aliases += 1;
    const target = anchors.get(here.source);
    // An anchor stands before its aliases, so each circle has an alias that is inside what it stands for.
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

export const keyText = (key: unknown): string => String(isScalar(key) ? key.value : key);

function pathOf(ancestors: Ancestors, node: Node): Path {
  const chain = [...ancestors, node];
  return chain.flatMap((parent, index): Path => {
    const child = chain[index + 1];
    if (isPair(parent)) return child === parent.value ? [keyText(parent.key)] : [];
    return isSeq(parent) ? [parent.items.indexOf(child)] : [];
  });
}
