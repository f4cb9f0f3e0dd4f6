import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { chunksOf, pixelsOf, pngOf, textChunk, textOf } from '../../../scripts/pictures/png.ts';

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

test('pixels are read whatever way each line was predicted', () => {
  assert.deepEqual(pixelsOf(png), { width: 2, height: 5, rgba: Buffer.from(pixels.flat()) });
});

test('a note is found again, and its checksum is right', () => {
  const noted = pngOf([...chunksOf(png).slice(0, 1), textChunk('tapfix-scene', 'abc'), ...chunksOf(png).slice(1)]);
  assert.equal(textOf(noted, 'tapfix-scene'), 'abc');
  assert.equal(textOf(noted, 'tapfix'), undefined);
  assert.equal(textOf(png, 'tapfix-scene'), undefined);
  const at = noted.indexOf('tEXt');
  assert.equal(noted.readUInt32BE(at + 4 + 16), crc32(noted.subarray(at, at + 4 + 16)));
  assert.throws(() => chunksOf(Buffer.from('GIF89a')), /not a PNG/);
});
