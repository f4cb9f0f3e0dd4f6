import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseDockerfile } from '../cluster/dockerfile.ts';
import { root } from './support/tapfix.ts';

const read = (file: string): Promise<string> => readFile(join(root, file), 'utf8');

/** The packages whose code is in dist, by the comments that esbuild writes above each file's code. */
async function bundled(): Promise<string[]> {
  const files = (await readdir(join(root, 'dist'))).filter((file) => file.endsWith('.js'));
  const code = (await Promise.all(files.map((file) => read(`dist/${file}`)))).join('\n');
  const names = [...code.matchAll(/^\s*\/\/ \S*node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\/\S+$/gm)].map(
    ([, name]) => name!,
  );
  return [...new Set(names)].sort();
}

test('every package that is in the bundle has its licence text beside it, and so in the image', async () => {
  const sections = (await read('dist/THIRD-PARTY-LICENSES.txt')).split(/^-{80}\n(?=\S+ \d)/m).slice(1);
  const texts = new Map(sections.map((section) => [section.slice(0, section.indexOf(' ')), section]));
  const names = await bundled();
  assert.ok(names.length > 20 && names.includes('grammy') && names.includes('@slack/bolt'), names.join(' '));
  assert.deepEqual(
    names.filter((name) => !texts.has(name)),
    [],
    'no licence',
  );
  const mute = [...texts].filter(([, text]) => !/permission|redistribution|apache license/i.test(text));
  assert.deepEqual(
    mute.map(([name]) => name),
    [],
    'a licence that permits nothing',
  );
  const { copies } = parseDockerfile(await read('deploy/Dockerfile'));
  const sources = copies.flatMap((copy) => copy.sources);
  assert.ok(sources.includes('dist') && sources.includes('LICENSE'));
  const { files } = JSON.parse(await read('package.json')) as { files: string[] };
  assert.ok(files.includes('dist'));
});

test('whoever installs tapfix gets no program that only its tests need', async () => {
  const manifest = JSON.parse(await read('package.json')) as Record<string, Record<string, string>>;
  // Everything it needs is in the bundle.
  assert.deepEqual([manifest['dependencies'], manifest['optionalDependencies']], [undefined, undefined]);
  const { packages } = JSON.parse(await read('package-lock.json')) as {
    packages: Record<string, { dev?: boolean; os?: string[]; resolved?: string }>;
  };
  const forOnePlatform = Object.entries(packages).filter(([, { os, dev }]) => os !== undefined && !dev);
  assert.deepEqual(forOnePlatform, []);
  const registries = Object.values(packages).filter(({ resolved }) => resolved?.includes('://'));
  assert.deepEqual(registries, [], 'the lockfile names no registry');
});
