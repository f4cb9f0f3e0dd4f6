import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { imageRepository } from '../../src/manifests/manifest.ts';
import { outcomeOf } from '../cluster/exec.ts';
import { root, tools } from './render.ts';

const folder = join(root, '.github/workflows');
const lint = (input: string) => outcomeOf(tools.actionlint, ['-shellcheck=', '-pyflakes=', '-'], { cwd: root, input });

test('actionlint has nothing to say about the workflows', async () => {
  assert.deepEqual((await readdir(folder)).sort(), ['ci.yml', 'release.yml']);
  for (const file of await readdir(folder)) {
    const text = await readFile(join(folder, file), 'utf8');
    const { code, stdout } = await lint(text);
    assert.equal(code, 0, `${file}:\n${stdout}`);
    assert.notEqual((await lint(text.replace('runs-on:', 'run-on:'))).code, 0, 'it sees a mistake');
  }
});

test('the workflows run scripts that there are, and push the image that the manifests run', async () => {
  for (const file of await readdir(folder)) {
    const text = await readFile(join(folder, file), 'utf8');
    for (const [, name] of text.matchAll(/npm run ([\w:]+)/g)) assert(Object.hasOwn(packageJson.scripts, name!), name);
    assert(text.includes(`tags: ${imageRepository}:`), file);
  }
});
