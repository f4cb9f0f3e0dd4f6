import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { withFewColours } from '../../../scripts/pictures/palette.ts';
import { chunksOf, indexedChunks, pixelsOf, pngOf } from '../../../scripts/pictures/png.ts';

/** Two pixels wide; each line is predicted in another way, as the standard numbers them. */
const pixels = [
  [10, 20, 30, 255, 11, 22, 33, 255],
  [12, 20, 30, 255, 15, 25, 35, 255],
  [13, 22, 30, 255, 18, 20, 31, 255],
  [90, 80, 70, 0, 91, 82, 73, 255],
  [91, 80, 70, 3, 90, 84, 71, 255],
];

function filtered(line: readonly number[], y: number): number[] {
  const at = (row: number, x: number): number => (x < 0 ? 0 : (pixels[row]?.[x] ?? 0));
  return line.map((value, x) => {
    const [left, up, corner] = [at(y, x - 4), at(y - 1, x), at(y - 1, x - 4)];
    const nearest = [left, up, corner].map((guess) => Math.abs(left + up - corner - guess));
    const paeth = [left, up, corner][nearest.indexOf(Math.min(...nearest))]!;
    return (value - [0, left, up, Math.floor((left + up) / 2), paeth][y]! + 256) % 256;
  });
}

const header = Buffer.from('00000002000000050806000000', 'hex');
const lines = Buffer.from(pixels.flatMap((line, y) => [y, ...filtered(line, y)]));
const png = pngOf([
  { type: 'IHDR', data: header },
  { type: 'IDAT', data: deflateSync(lines) },
  { type: 'IEND', data: Buffer.alloc(0) },
]);

test('few colours stay as they are', () => {
  const { palette, indices } = withFewColours(pixelsOf(png));
  assert.deepEqual(
    [...indices].flatMap((place) => palette[place]!),
    pixels.flat(),
  );
  const made = chunksOf(pngOf(indexedChunks(withFewColours(pixelsOf(png)))));
  assert.deepEqual(
    made.map(({ type }) => type),
    ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'],
  );
});

test('of many colours at most 256 are left, and none moves far', () => {
  const rgba = Buffer.from(Array.from({ length: 40 * 40 }, (_, n) => [n % 40, Math.floor(n / 40), 0, 255]).flat());
  const { palette, indices } = withFewColours({ width: 40, height: 40, rgba });
  assert.ok(palette.length <= 256);
  indices.forEach((place, n) =>
    palette[place]!.forEach((value, c) => assert.ok(Math.abs(value - rgba[n * 4 + c]!) <= 3)),
  );
});
