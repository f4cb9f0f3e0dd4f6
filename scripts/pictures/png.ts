import { crc32, deflateSync, inflateSync } from 'node:zlib';

/** https://www.w3.org/TR/png/: a signature, then chunks of length, type, data, checksum. */
const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

export interface Chunk {
  type: string;
  data: Buffer;
}

export function chunksOf(png: Buffer): Chunk[] {
  if (!png.subarray(0, signature.length).equals(signature)) throw new Error('not a PNG');
  const chunks: Chunk[] = [];
  for (let at = signature.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

export const pngOf = (chunks: readonly Chunk[]): Buffer => Buffer.concat([signature, ...chunks.map(chunkBytes)]);

function chunkBytes({ type, data }: Chunk): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const bytes = Buffer.alloc(body.length + 8);
  bytes.writeUInt32BE(data.length);
  body.copy(bytes, 4);
  bytes.writeUInt32BE(crc32(body), body.length + 4);
  return bytes;
}

/** A note inside the picture: keyword, zero, text. */
export const textChunk = (keyword: string, text: string): Chunk => ({
  type: 'tEXt',
  data: Buffer.from(`${keyword}\0${text}`, 'latin1'),
});

export function textOf(png: Buffer, keyword: string): string | undefined {
  const texts = chunksOf(png).filter(({ type }) => type === 'tEXt');
  const found = texts.map(({ data }) => data.toString('latin1')).find((text) => text.startsWith(`${keyword}\0`));
  return found?.slice(keyword.length + 1);
}

export interface Pixels {
  width: number;
  height: number;
  /** Four bytes each: red, green, blue, opacity. */
  rgba: Buffer;
}

/** Of the one kind that Chromium makes: 8 bits a channel, with opacity, not interlaced. */
export function pixelsOf(png: Buffer): Pixels {
  const chunks = chunksOf(png);
  const header = chunks[0]!.data;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  if (header.toString('hex', 8) !== '0806000000') throw new Error('not the kind of PNG that Chromium makes');
  const packed = chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data);
  return { width, height, rgba: unfiltered(inflateSync(Buffer.concat(packed)), width * 4, height) };
}

/** Each line says how it was predicted from the pixels left of it and above it. */
function unfiltered(lines: Buffer, stride: number, height: number): Buffer {
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = lines[y * (stride + 1)]!;
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x < 4 ? 0 : out[at - 4]!;
      const up = y === 0 ? 0 : out[at - stride]!;
      const corner = x < 4 || y === 0 ? 0 : out[at - stride - 4]!;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!;
      out[at] = lines[at + y + 1]! + guess;
    }
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const sum = left + up - corner;
  const [byLeft, byUp, byCorner] = [Math.abs(sum - left), Math.abs(sum - up), Math.abs(sum - corner)];
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}

export interface Indexed {
  width: number;
  height: number;
  /** At most 256 colours, each red, green, blue, opacity. */
  palette: readonly (readonly number[])[];
  /** One byte a pixel: its colour's place in the palette. */
  indices: Buffer;
}

export function indexedChunks({ width, height, palette, indices }: Indexed): Chunk[] {
  const header = Buffer.from('00000000000000000803000000', 'hex');
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) indices.copy(lines, y * (width + 1) + 1, y * width, (y + 1) * width);
  return [
    { type: 'IHDR', data: header },
    { type: 'PLTE', data: Buffer.from(palette.flatMap((colour) => colour.slice(0, 3))) },
    { type: 'tRNS', data: Buffer.from(palette.map((colour) => colour[3]!)) },
    { type: 'IDAT', data: deflateSync(lines, { level: 9 }) },
    { type: 'IEND', data: Buffer.alloc(0) },
  ];
}
