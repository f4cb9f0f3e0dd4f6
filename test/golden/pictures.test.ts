import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { themes } from '../../scripts/pictures/app.ts';
import { hashOfPicture, keyword, pictures } from '../../scripts/pictures/list.ts';
import { textOf } from '../../scripts/pictures/png.ts';

/* A picture cannot be compared with words; the note inside it says which words it was taken of. */
const folder = new URL('../../docs/pictures/', import.meta.url);
const files = pictures.flatMap((picture) =>
  themes.map((theme) => ({ picture, file: `${picture.name}-${theme}.png` })),
);

for (const { picture, file } of files)
  test(`${file} shows what tapfix says today`, () => {
    const path = new URL(file, folder);
    assert.ok(existsSync(path), `docs/pictures/${file} is missing: npm run pictures`);
    const shows = textOf(readFileSync(path), keyword);
    const says = hashOfPicture(picture);
    assert.equal(shows, says, `the words of docs/pictures/${file} have changed: npm run pictures, look, commit`);
  });

test('there is no picture that nothing keeps up to date', () => {
  const unknown = readdirSync(folder).filter((name) => !files.some(({ file }) => file === name));
  assert.deepEqual(unknown, [], 'not in scripts/pictures/list.ts');
});

test('pictures stay small', () => {
  const big = files.filter(({ file }) => readFileSync(new URL(file, folder)).length > 150_000);
  assert.deepEqual(big, []);
});
