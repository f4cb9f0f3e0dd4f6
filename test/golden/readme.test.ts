import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url);
const readme = readFileSync(new URL('README.md', root), 'utf8');

test('the first screen of README has a picture of a message, light and dark, and the command that shows it working', () => {
  const firstScreen = readme.slice(0, readme.indexOf('To pass the tests'));
  const pictures = [...firstScreen.matchAll(/(?:srcset|src)="(docs\/pictures\/[^"]+)"/g)].map(([, file]) => file!);
  assert.deepEqual(pictures, ['docs/pictures/telegram-life-dark.png', 'docs/pictures/telegram-life-light.png']);
  assert.match(firstScreen, /```sh\nnpm ci && npm run demo\n```/);
});

test('every file that README links to is there', () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link!);
  assert(links.length > 5);
  assert.deepEqual(links.filter((link) => !existsSync(new URL(link, root))), []);
});
