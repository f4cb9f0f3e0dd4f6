/** Text that the resource's schema accepts and a phone can show: no control bytes, cut to fit. */
export function plain(text: string, maxLength: number): string {
  // oxlint-disable-next-line no-control-regex
  const clean = text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, ' ');
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength - 1)}…`;
}

/** The same on one line. */
export const line = (text: string, maxLength: number): string =>
  plain(plain(text, text.length).replace(/\s+/g, ' ').trim(), maxLength);
