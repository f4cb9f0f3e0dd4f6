import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { messageOf, UserError } from '../src/lib/errors.ts';
import { themes } from './pictures/app.ts';
import { howToGetThem, startBrowser } from './pictures/chromium.ts';
import { hashOfPicture, keyword, pictures } from './pictures/list.ts';
import { pageOf } from './pictures/page.ts';
import { withFewColours } from './pictures/palette.ts';
import { indexedChunks, pixelsOf, pngOf, textChunk } from './pictures/png.ts';

/** `npm run pictures` photographs what the renderer says, for README.md and docs: docs/pictures/*.png. */
const folder = join(import.meta.dirname, '../docs/pictures');
const emoji = 'Noto Color Emoji';
/** Inter, or else Noto Sans; an arrow that they have not comes from DejaVu. */
const isWanted = (font: string): boolean => font === emoji || /^(Inter|Noto Sans|DejaVu Sans)\b/.test(font);

/** What is missing came out in another font, or, an emoji, as an empty box. */
function checkFonts(fonts: readonly string[]): void {
  const strange = fonts.filter((font) => !isWanted(font));
  const found = strange.length > 0 ? strange.join(', ') : `no ${emoji}`;
  if (strange.length > 0 || !fonts.includes(emoji))
    throw new UserError(`a font is missing (found ${found}); on Debian: ${howToGetThem}`);
}

async function takeAll(): Promise<void> {
  const browser = await startBrowser();
  try {
    await mkdir(folder, { recursive: true });
    for (const picture of pictures)
      for (const theme of themes) {
        const { png, fonts } = await browser.picture(pageOf(picture, theme));
        checkFonts(fonts);
        const file = join(folder, `${picture.name}-${theme}.png`);
        const bytes = finished(png, hashOfPicture(picture));
        await writeFile(file, bytes);
        console.log(`${(bytes.length / 1024).toFixed(0).padStart(5)} KB  ${relative('', file)}`);
      }
  } finally {
    await browser.close();
  }
}

/** Small enough for a repository, and with a note of what it shows. */
function finished(png: Buffer, shows: string): Buffer {
  const [header, ...others] = indexedChunks(withFewColours(pixelsOf(png)));
  return pngOf([header!, textChunk(keyword, shows), ...others]);
}

await takeAll().catch((error: unknown) => {
  console.error(error instanceof UserError ? messageOf(error) : error);
  process.exitCode = 1;
});
