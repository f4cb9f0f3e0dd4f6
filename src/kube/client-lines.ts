const newline = 0x0a;

export class TruncatedLine extends Error {
  override readonly name = 'TruncatedLine';
}

/**
 * The lines of a byte stream. It is cut at newline bytes and decoded line by line, so a character or a line split
 * between two chunks is whole again here. What follows the last newline is no line: it throws instead.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, longestBytes: number): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const line = textOf(parts, chunk.subarray(start, end));
      if (parts.length > 0) parts = [];
      bytes = 0;
      start = end + 1;
      if (line.trim()) yield line;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
    bytes += chunk.length - start;
    if (bytes > longestBytes) throw new RangeError(`a line longer than ${longestBytes} bytes`);
  }
  if (bytes > 0) throw new TruncatedLine('it ended in the middle of a line');
}

/** Most lines lie within one chunk, and are not copied. */
const textOf = (before: Uint8Array[], { buffer, byteOffset, length }: Uint8Array): string => {
  const end = Buffer.from(buffer, byteOffset, length);
  return before.length === 0 ? end.toString('utf8') : Buffer.concat([...before, end]).toString('utf8');
};
