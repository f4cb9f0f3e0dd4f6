import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { type AnyNode, type Node, parse } from 'acorn';

/**
 * Everything that the program can say, read off its source, so that a reviewer can read it in one go. A name in braces
 * stands for what is filled in. UPDATE_GOLDEN=1 writes the list anew.
 */
const list = new URL('sentences.txt', import.meta.url);
const src = join(import.meta.dirname, '../../src');
/** What these write is read by programs, or imitates what Kubernetes writes. */
const unseen = /^(sim|lib|manifests\/(policies|workloads|structural|crd))\b/;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

function* nodesIn(node: Node): Generator<AnyNode> {
  yield node as AnyNode;
  // Imports and patterns are no sentences.
  if (node.type === 'ImportDeclaration' || node.type === 'ExportNamedDeclaration' || node.type === 'ExportAllDeclaration') {
    const { declaration } = node as Node & { declaration?: unknown };
    if (isNode(declaration)) yield* nodesIn(declaration);
    return;
  }
  for (const value of Object.values(node))
    for (const inner of Array.isArray(value) ? value : [value]) if (isNode(inner)) yield* nodesIn(inner);
}

/** "{name} is down, {ready}": the words of a template with the last name of each part that is filled in. */
function wordsOf(node: AnyNode, code: string): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node.type !== 'TemplateLiteral') return undefined;
  return node.quasis
    .map(({ value }, n) => {
      const filled = node.expressions[n];
      if (!filled) return value.cooked ?? '';
      const source = code.slice(filled.start, filled.end);
      return `${value.cooked ?? ''}{${/^[\w.]+/.exec(source)?.[0].split('.').at(-1) ?? '…'}}`;
    })
    .join('');
}

/** Two words of small letters in a row: not a name, a path or a pattern. */
const isSentence = (text: string): boolean =>
  /(^|[^\w{}/.-])[A-Za-z’']{2,},? [a-z’']{2,}\b/.test(text.replace(/\{[^}]*\}/g, ' ')) && !/[\\^$]\(|=>|--[a-z]+=/.test(text);

function sentencesOf(file: string): string[] {
  const code = stripTypeScriptTypes(readFileSync(join(src, file), 'utf8'));
  const tree = parse(code, { ecmaVersion: 'latest', sourceType: 'module' });
  const found = [...nodesIn(tree)].flatMap((node) => wordsOf(node, code) ?? []);
  return [...new Set(found.filter(isSentence))].map((text) => text.replaceAll('\n', '⏎'));
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !unseen.test(file))
  .sort();
const all = files.map((file) => ({ file, sentences: sentencesOf(file) })).filter(({ sentences }) => sentences.length > 0);

test('every sentence that the program can say is in the list', () => {
  const text = all.map(({ file, sentences }) => [`## ${file}`, ...sentences, ''].join('\n')).join('\n');
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(list, text);
  assert.equal(text, readFileSync(list, 'utf8'));
});

/** Correct and strange, or unclear at three in the morning; beside each what to write instead. */
const strange: readonly (readonly [RegExp, string])[] = [
  [/nobody decided/i, 'no decision by 03:42'],
  [/nothing safe (to do|is known)/i, 'no one-tap fix'],
  [/\bapprove until\b/i, 'expires 03:42'],
  [/\bheld (\d|\{)/i, 'stable for 30 s'],
  [/put (it|them) back with/i, 'to undo'],
  [/rehearsed on the API server/i, 'dry run accepted by the API server'],
  [/it helps if/i, 'helps if pods hang, not if a dependency is down'],
  [/a rule is changed by those/i, 'tapfix does not change policies'],
  [/created by unknown/i, 'created 03:11 (writer not recorded)'],
];

for (const [phrase, instead] of strange)
  test(`nowhere does it say ${phrase}: "${instead}" is plainer`, () => {
    const said = all.flatMap(({ file, sentences }) => sentences.filter((one) => phrase.test(one)).map((one) => `${file}: ${one}`));
    assert.deepEqual(said, []);
  });
