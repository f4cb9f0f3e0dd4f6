/**
 * Slack's Block Kit as its server reads it, and stricter: only what we use, every limit that is known.
 * https://docs.slack.dev/reference/block-kit
 */
export class RefusedBySlack extends Error {
  /** What Slack calls it. */
  readonly code: string;
  constructor(code: string, why: string) {
    super(`${code}: ${why}`);
    this.code = code;
  }
}
type Json = Record<string, unknown>;

const must = (holds: unknown, why: string, code = 'invalid_blocks'): void => {
  if (!holds) throw new RefusedBySlack(code, why);
};
const isText = (value: unknown): value is string => typeof value === 'string';

/** What people can read of it; throws what Slack would answer. */
export function readMessage({ text, blocks }: { text?: unknown; blocks?: unknown }): string {
  must(isText(text) && text.trim() !== '', 'no text for the lock screen', 'no_text');
  must(String(text).length <= 4000, `${String(text).length} characters of text`, 'msg_too_long');
  checkMrkdwn(String(text));
  if (blocks === undefined) return unescaped(String(text));
  must(Array.isArray(blocks), 'blocks are a list', 'invalid_blocks_format');
  must((blocks as unknown[]).length <= 50, `${(blocks as unknown[]).length} blocks`);
  const size = JSON.stringify(blocks).length;
  must(size <= 13_200, `${size} characters of blocks`, 'msg_blocks_too_long');
  return (blocks as Json[]).map(readBlock).join('\n');
}

/** In mrkdwn each < > & is an entity, so that nobody is mentioned and nothing is linked. */
function checkMrkdwn(text: string): void {
  must(!/[<>]|&(?!(amp|lt|gt);)/.test(text), `unescaped: ${text.slice(0, 80)}`, 'invalid_mrkdwn');
}
const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

const readers: Readonly<Record<string, (block: Json) => string>> = {
  header: ({ text }) => textObject(text, 150, ['plain_text']),
  section: ({ text }) => textObject(text, 3000),
  context: ({ elements }) => listOf(elements, 10, (element) => textObject(element, 2000)),
  actions: ({ elements }) => {
    const ids = (elements as Json[]).map(({ action_id }) => action_id);
    must(new Set(ids).size === ids.length, 'two buttons with one action_id');
    return listOf(elements, 25, button);
  },
  rich_text: ({ elements }) => listOf(elements, 100, richElement),
};

function readBlock(block: Json): string {
  const read = readers[String(block['type'])];
  must(read, `unsupported type: ${String(block['type'])}`);
  return read!(block);
}

function listOf(value: unknown, most: number, read: (element: Json) => string): string {
  must(Array.isArray(value) && value.length > 0 && value.length <= most, `a list of 1 to ${most}`);
  return (value as Json[]).map(read).join('\n');
}

function textObject(value: unknown, max: number, types = ['plain_text', 'mrkdwn']): string {
  const { type, text, emoji } = (value ?? {}) as Json;
  must(types.includes(String(type)), `a text of type ${String(type)}`);
  must(isText(text) && text.trim() !== '' && text.length <= max, `text of 1 to ${max} characters`);
  must(String(text).isWellFormed(), 'half a character');
  must(emoji === undefined || type === 'plain_text', 'emoji is of plain_text');
  if (type === 'mrkdwn') checkMrkdwn(String(text));
  return type === 'mrkdwn' ? unescaped(String(text)) : String(text);
}

function button({ type, text, action_id, value, style }: Json): string {
  must(type === 'button', `an element of type ${String(type)}`);
  must(isText(action_id) && action_id !== '' && action_id.length <= 255, 'action_id of 1 to 255 characters');
  must(isText(value) && value !== '' && value.length <= 2000, 'value of 1 to 2000 characters');
  must(style === undefined || style === 'primary' || style === 'danger', `style ${String(style)}`);
  return `[ ${textObject(text, 75, ['plain_text'])} ]`;
}

const richTypes = ['rich_text_section', 'rich_text_preformatted', 'rich_text_quote'];

function richElement({ type, elements }: Json): string {
  must(richTypes.includes(String(type)), `an element of type ${String(type)}`);
  must(Array.isArray(elements) && elements.length > 0, 'an element without words');
  return (elements as Json[])
    .map(({ type: kind, text, style }) => {
      must(kind === 'text' && isText(text) && text.length > 0, 'a text of 0 characters');
      must(String(text).isWellFormed(), 'half a character');
      must(style === undefined || type !== 'rich_text_preformatted', 'a style in what is preformatted');
      return String(text);
    })
    .join('');
}
