/** At most so many UTF-16 units, with "…" where something is missing, never through the middle of a character. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = max - 1;
  const head = text.slice(0, end);
  return `${/[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head}…`;
}
