import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { appendFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { actions } from '../../../src/actions/table.ts';
import { runManifests } from '../../../src/cli/manifests.ts';
import { UserError } from '../../../src/lib/errors.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { defaults, installFile, renderManifests } from '../../../src/manifests/render-manifests.ts';

const folder = mkdtempSync(join(tmpdir(), 'tapfix-manifests-'));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'file');
writeFileSync(file, '');
const occupied = join(folder, 'occupied');
mkdirSync(join(occupied, '00-namespace.yaml'), { recursive: true });

async function printed(options: Parameters<typeof runManifests>[0]): Promise<string> {
  const lines: string[] = [];
  await runManifests(options, { print: (text) => lines.push(text) });
  return lines.join('\n');
}

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
const images = [
  'tapfix',
  'tapfix:0.1.0',
  'acme/tapfix',
  'localhost/tapfix:0.1.0',
  'localhost:5000/tapfix',
  'registry.example.com/team/on-call/tapfix:v1_2.3-rc.1',
  'registry.example.com:5000/a__b/c.d/e--f',
  '[::1]:5000/tapfix:1',
  `registry.example.com/tapfix@${digest}`,
  `registry.example.com/tapfix:1@${digest}`,
];
for (const image of images) {
  test(`--image ${image} is an image`, async () =>
    assert((await printed({ image })).includes(`image: ${image.startsWith('[') ? `"${image}"` : image}\n`)));
}

const noImages = [
  '',
  ' ',
  'Foo::://',
  'x:1#y',
  'Acme/tapfix',
  'acme/Tapfix:1',
  'tapfix:',
  'tapfix:-1',
  `tapfix:${'1'.repeat(129)}`,
  'tapfix@sha256:abc',
  `tapfix@${digest.toUpperCase()}`,
  'https://images.example.com/tapfix',
  '/tapfix',
  'acme//tapfix',
  'acme/tapfix/',
  'acme/-tapfix',
  'registry.example.com:port/tapfix',
  'two words',
];
for (const image of noImages) {
  test(`--image ${JSON.stringify(image)} is refused, with what an image looks like`, async () => {
    const sentence = `--image ${JSON.stringify(image)} is not an image: write it in lower case, such as registry.example.com/team/tapfix:0.1.0`;
    await refuses({ image }, sentence);
  });
}

for (const namespace of ['default', 'kube-system'])
  test(`--namespace ${namespace} is refused: the manifests label and restrict it`, () =>
    refuses({ namespace }, `--namespace ${namespace} is not tapfix's to label and restrict: give it one of its own`));

const noDirectories = [
  { name: 'nothing', out: '', say: '--out needs the name of a directory' },
  { name: 'a file', out: file, say: `--out ${file} is a file, or below one: name a directory` },
  {
    name: 'something below a file',
    out: join(file, 'x'),
    say: `--out ${join(file, 'x')} is a file, or below one: name a directory`,
  },
  {
    name: 'where a directory has the name of one of our files',
    out: occupied,
    say: `--out ${occupied} cannot be written: ${join(occupied, '00-namespace.yaml')} is a directory`,
  },
  { name: 'where nothing can be made', out: '/proc/tapfix', say: '--out /proc/tapfix cannot be made there' },
  {
    name: 'a name that is too long',
    out: join(folder, 'x'.repeat(300)),
    say: `--out ${join(folder, 'x'.repeat(300))} cannot be written (ENAMETOOLONG)`,
  },
];
for (const { name, out, say } of noDirectories) {
  test(`--out to ${name} is refused in one sentence`, () => refuses({ out }, say));
}

async function refuses(options: Parameters<typeof runManifests>[0], sentence: string): Promise<void> {
  await assert.rejects(printed(options), (error: unknown) => {
    assert(error instanceof UserError, String(error));
    assert.deepEqual({ say: error.message, code: error.exitCode }, { say: sentence, code: 2 });
    return true;
  });
}

describe('what is printed and written', () => {
  const fresh = renderManifests({ ...defaults, actions });

  const objectsOf = (text: string): Manifest[] =>
    parseAllDocuments(text).map((document) => document.toJS() as Manifest);

  async function printed(options: Parameters<typeof runManifests>[0]): Promise<string> {
    const lines: string[] = [];
    assert.equal(await runManifests(options, { print: (text) => lines.push(text) }), 0);
    return lines.join('\n');
  }

  test('everything follows the namespace and the image', async () => {
    const text = await printed({ namespace: 'ops', image: 'registry.example.com/tapfix:9' });
    const objects = objectsOf(text);
    assert.deepEqual(new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? [])), new Set(['ops']));
    assert.doesNotMatch(text, /serviceaccount:tapfix:|namespace: tapfix\b|ghcr\.io/);
    assert.equal(text.match(/image: registry\.example\.com\/tapfix:9/g)?.length, 2);
  });

  test('files are written where asked, and named', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'manifests-'));
    const out = join(parent, 'new');
    const said = await printed({ out });
    assert.deepEqual((await readdir(out)).sort(), [...fresh.keys()]);
    assert.equal(said, [...fresh.keys()].map((name) => `wrote ${join(out, name)}`).join('\n'));
    await rm(parent, { recursive: true });
  });

  test('what is printed has every object once', async () => {
    const all = objectsOf(await printed({})).map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`,
    );
    assert.deepEqual(all, [...new Set(all)]);
  });

  test('an edited file is kept and named, the others follow the new image; --force takes it as well', async () => {
    const out = await mkdtemp(join(tmpdir(), 'manifests-'));
    const at = (name: string): string => join(out, name);
    const again = async (force: boolean): Promise<{ code: number; lines: string[] }> => {
      const lines: string[] = [];
      const code = await runManifests({ out, image: 'acme/tapfix:2', force }, { print: (text) => lines.push(text) });
      return { code, lines };
    };
    await printed({ out, image: 'acme/tapfix:1' });
    await appendFile(at('40-config.yaml'), '# mine\n');
    const config = await readFile(at('40-config.yaml'), 'utf8');

    const upgrade = await again(false);
    const kept = (name: string): string => `kept ${at(name)}, because it was edited: --force overwrites it`;
    assert.deepEqual([upgrade.code, upgrade.lines.at(-1)], [0, kept('40-config.yaml')]);
    assert.equal(upgrade.lines.length, fresh.size);
    assert.equal(await readFile(at('40-config.yaml'), 'utf8'), config);
    assert.match(await readFile(at(installFile), 'utf8'), /image: acme\/tapfix:2$/m);

    await appendFile(at('50-deployments.yaml'), '# mine\n');
    const incomplete = await again(false);
    assert.deepEqual([incomplete.code, incomplete.lines.at(-1)], [1, kept('50-deployments.yaml')]);

    const forced = await again(true);
    assert.deepEqual([forced.code, forced.lines.filter((line) => line.startsWith('kept'))], [0, []]);
    assert.doesNotMatch(await readFile(at('40-config.yaml'), 'utf8'), /mine/);
    await rm(out, { recursive: true });
  });

  for (const namespace of ['', 'Ops', "a' || true || '", 'a'.repeat(64)]) {
    test(`${JSON.stringify(namespace)} is no namespace`, async () => {
      await assert.rejects(printed({ namespace }), { name: 'UserError', exitCode: 2 });
    });
  }
});
