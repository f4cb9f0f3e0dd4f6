/** https://core.telegram.org/bots/api#html-style: what may stand in a message, and nothing else. */
const attributes: Readonly<Record<string, RegExp>> = {
  b: /^$/,
  i: /^$/,
  u: /^$/,
  s: /^$/,
  code: /^$/,
  pre: /^$/,
  'tg-spoiler': /^$/,
  blockquote: /^( expandable)?$/,
  a: /^ href="[^"]+"$/,
};
export const tags: readonly string[] = Object.keys(attributes);

export interface Element {
  tag: string;
  /** As written: ` expandable`, ` href="..."`. */
  attribute: string;
  children: Node[];
}
export type Node = string | Element;

/** Tags that stand apart from the lines before and after them. */
export const isBlock = (node: Node | undefined): boolean =>
  typeof node === 'object' && (node.tag === 'pre' || node.tag === 'blockquote');

/** A tree of what Telegram would show; throws where Telegram would refuse the message. */
export function parseTelegramHtml(html: string): Node[] {
  const root: Element = { tag: '', attribute: '', children: [] };
  const open: Element[] = [root];
  for (const [piece] of html.matchAll(/<[^<>]*>|[^<>]+|[<>]/g)) {
    const inside = open.at(-1)!;
    if (piece === '<' || piece === '>') throw new Error(`a bare ${piece} in: ${html}`);
    if (!piece.startsWith('<')) inside.children.push(decoded(piece));
    else if (piece.startsWith('</')) close(open, piece);
    else {
      const element = opened(piece);
      inside.children.push(element);
      open.push(element);
    }
  }
  if (open.length > 1) throw new Error(`<${open.at(-1)!.tag}> is never closed in: ${html}`);
  return root.children;
}

function opened(piece: string): Element {
  const [, tag = '', attribute = ''] = /^<([a-z-]+)(.*)>$/s.exec(piece) ?? [];
  const allowed = Object.hasOwn(attributes, tag) ? attributes[tag] : undefined;
  if (!allowed?.test(attribute)) throw new Error(`Telegram does not know ${piece}`);
  return { tag, attribute: decoded(attribute), children: [] };
}

function close(open: Element[], piece: string): void {
  const last = open.length > 1 ? open.pop() : undefined;
  if (piece !== `</${last?.tag}>`) throw new Error(`${piece} closes nothing that is open`);
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

function decoded(text: string): string {
  return text.replace(/&([a-z]+|#\d+|#x[\da-f]+)?;?/gi, (whole, name?: string) => {
    const known = name && whole.endsWith(';');
    if (known && name.startsWith('#')) return String.fromCodePoint(Number(name.slice(1).replace(/^x/i, '0x')));
    if (!known || !Object.hasOwn(entities, name)) throw new Error(`Telegram does not decode ${whole}`);
    return entities[name]!;
  });
}
