import { longUid, shortUid } from '../lib/guid.ts';
import type { Button } from './message.ts';

/** A page of the list of all that one message tells of. Nothing is remembered: the button says which. */
export interface PageRef {
  /** The name of its Notice. */
  notice: string;
  /** From 1. */
  page: number;
}

/** Telegram's limit, and ours for every channel. */
const maxPayloadBytes = 64;
const isName = (notice: string): boolean => /^[0-9a-f]{32}$/.test(notice);
/** A message holds at most 1000. */
const written = ({ notice, page }: PageRef): string => `${shortUid(notice)}:${page}`;
const pattern = '([A-Za-z0-9_-]{22}):([1-9][0-9]{0,2})';
const shows = new RegExp(`^p:${pattern}$`);
const acts = new RegExp(`^([a-z]:.+):${pattern}$`);

/** The payload that opens or turns to this page; undefined for a Notice that no process of ours named. */
export const encodePage = (ref: PageRef): string | undefined => (isName(ref.notice) ? `p:${written(ref)}` : undefined);

/** The payload of "I'm on it" for all that a message tells of. */
export const encodeAll = (notice: string): string | undefined => (isName(notice) ? `o:${shortUid(notice)}` : undefined);

/** The name of the Notice. */
export function decodeAll(data: string): string | undefined {
  const [, notice] = /^o:([A-Za-z0-9_-]{22})$/.exec(data) ?? [];
  return notice && longUid(notice)?.replaceAll('-', '');
}

/** The same button on a page: it says on which, so that the page can be shown again afterwards. */
export function onPage(button: Button, ref: PageRef): Button {
  const data = `${button.data}:${written(ref)}`;
  if (Buffer.byteLength(data) > maxPayloadBytes) throw new RangeError(`button payload too long: ${data}`);
  return { ...button, data };
}

/** What was pressed on a page: the page alone, or a button with its own payload. undefined: not on a page. */
export function decodePage(data: string): { ref: PageRef; inner?: string } | undefined {
  const shown = shows.exec(data);
  const [inner, notice, page] = shown ? [undefined, shown[1], shown[2]] : (acts.exec(data)?.slice(1) ?? []);
  const name = notice && longUid(notice)?.replaceAll('-', '');
  return name ? { ref: { notice: name, page: Number(page) }, ...(inner && { inner }) } : undefined;
}
