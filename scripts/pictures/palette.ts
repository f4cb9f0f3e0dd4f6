import type { Indexed, Pixels } from './png.ts';

type Colour = readonly [number, number, number, number];

const colourOf = (packed: number): Colour => [packed >>> 24, (packed >>> 16) & 255, (packed >>> 8) & 255, packed & 255];

function distance(a: Colour, b: Colour): number {
  const [red, green, blue] = [Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1]), Math.abs(a[2] - b[2])];
  return Math.max(red, green, blue, Math.abs(a[3] - b[3]));
}

/**
 * A chat has few colours, and their blends at the edges of letters: 256 of them look the same and take a third of the
 * room. The most frequent ones stay as they are; the others become the nearest of these.
 */
export function withFewColours({ width, height, rgba }: Pixels): Indexed {
  const counts = new Map<number, number>();
  for (let at = 0; at < rgba.length; at += 4) {
    const packed = rgba.readUInt32BE(at);
    counts.set(packed, (counts.get(packed) ?? 0) + 1);
  }
  const colours = [...counts].sort(([, a], [, b]) => b - a).map(([packed]) => packed);
  const palette = fewest(colours.map(colourOf));
  const places = new Map(colours.map((packed) => [packed, nearest(palette, colourOf(packed))]));
  const indices = Buffer.alloc(width * height);
  for (let n = 0; n < indices.length; n += 1) indices[n] = places.get(rgba.readUInt32BE(n * 4))!;
  return { width, height, palette, indices };
}

/** Areas of one colour, not edges of letters: a bar that is almost white must not become another almost white. */
const exact = 24;

/** As fine a palette as 256 places allow. */
function fewest(colours: readonly Colour[]): Colour[] {
  for (let apart = 0; ; apart += 1) {
    const kept = colours.slice(0, exact);
    for (const colour of colours.slice(exact))
      if (kept.length <= 256 && kept.every((other) => distance(other, colour) > apart)) kept.push(colour);
    if (kept.length <= 256) return kept;
  }
}

function nearest(palette: readonly Colour[], colour: Colour): number {
  let best = 0;
  palette.forEach((other, n) => {
    if (distance(other, colour) < distance(palette[best]!, colour)) best = n;
  });
  return best;
}
