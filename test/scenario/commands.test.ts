import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { aFolder, root, startTapfix } from './support/tapfix.ts';

interface Object {
  apiVersion?: string;
  kind?: string;
  metadata?: { name?: string };
}

function parsed(stream: string): Object[] {
  const documents = parseAllDocuments(stream);
  assert(Array.isArray(documents) && documents.length > 0, 'no document at all');
  return documents.map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS() as Object;
  });
}

describe('the commands, as built', { concurrency: 3 }, () => {
  test('manifests prints one stream of objects that parses', async (t) => {
    const { code, stdout, stderr } = await startTapfix(t, ['manifests']).ended();
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const objects = parsed(stdout);
    for (const object of objects) assert(object.apiVersion && object.kind && object.metadata?.name);
    const deployed = objects.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata?.name);
    assert.deepEqual(deployed.sort(), ['tapfix-controller', 'tapfix-watcher']);
  });

  test('manifests --out writes the same as files, and says which', async (t) => {
    const out = join(await aFolder(t), 'not', 'there', 'yet');
    const { code, stdout } = await startTapfix(t, ['manifests', '--out', out]).ended();
    const names = (await readdir(out)).sort();
    assert.equal(code, 0);
    assert(names.length > 1);
    assert.equal(stdout, names.map((name) => `wrote ${join(out, name)}\n`).join(''));
    const parts = names.filter((name) => name !== 'install.yaml'); // it has the objects of the others again
    const files = await Promise.all(parts.map((name) => readFile(join(out, name), 'utf8')));
    const printed = await startTapfix(t, ['manifests']).ended();
    assert.deepEqual(files.flatMap(parsed), parsed(printed.stdout));
  });

  test('check-config says that the example is ok', async (t) => {
    const { code, stdout, stderr } = await startTapfix(t, ['check-config', 'config.example.yaml']).ended();
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /^ok\n/);
    assert.match(stdout, /^# warning: approver Ada: 123456789 is the id of the example/m);
  });

  test('check-config reads a ConfigMap, here from standard input', async (t) => {
    const manifest = await readFile(join(root, 'deploy/manifests/40-config.yaml'), 'utf8');
    const { code, stdout, stderr } = await startTapfix(t, ['check-config', '-'], { input: manifest }).ended();
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /^ok\n\n# standard input with every default filled in:\ncluster: my-cluster\n/);
  });

  for (const command of [[], ['run'], ['check-config'], ['manifests'], ['explain'], ['replay']]) {
    test(`${['tapfix', ...command].join(' ')} --help ends with an example`, async (t) => {
      const { code, stdout } = await startTapfix(t, [...command, '--help']).ended();
      assert.equal(code, 0);
      assert.match(stdout, new RegExp(`Examples?:\\n +.*tapfix ${command[0] ?? 'demo'}\\b`));
    });
  }

  test('manifests --out to a file is one sentence and exit code 2', async (t) => {
    const { code, stdout, stderr } = await startTapfix(t, ['manifests', '--out', 'package.json']).ended();
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.equal(stderr, '--out package.json is a file, or below one: name a directory\n');
  });

  test('an unknown option is one line and exit code 2', async (t) => {
    const { code, stdout, stderr } = await startTapfix(t, ['run', '--config', 'c.yaml', '--fast']).ended();
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, /^tapfix: unknown option '--fast'[^\n]*\n$/);
  });
});

const preloadOf = (version: string): string => `data:text/javascript,
  Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}});
  Object.defineProperty(process,'version',{value:'v${version}'});`;

const versions = [
  { version: '18.20.8', isNewEnough: false },
  { version: '20.20.2', isNewEnough: false },
  { version: '22.18.0', isNewEnough: false },
  { version: '22.19.0', isNewEnough: true },
  { version: '26.0.0', isNewEnough: true },
];

describe('before the program itself', { concurrency: 3 }, () => {
  for (const { version, isNewEnough } of versions) {
    test(`Node ${version} ${isNewEnough ? 'will do' : 'is told which one is needed, in one sentence'}`, async (t) => {
      const options = { node: ['--import', preloadOf(version)] };
      const { code, stdout, stderr } = await startTapfix(t, ['--version'], options).ended();
      if (isNewEnough) return assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
      assert.match(stderr, new RegExp(`^tapfix needs Node 22\\.19 or newer; this is v${version}\\. [^\\n]*\\n$`));
    });
  }

  test('without a build it says how to build', async (t) => {
    const folder = await aFolder(t);
    await mkdir(join(folder, 'bin'));
    for (const file of ['bin/tapfix.js', 'package.json']) await cp(join(root, file), join(folder, file));
    const program = join(folder, 'bin/tapfix.js');
    const { code, stdout, stderr } = await startTapfix(t, ['--version'], { program }).ended();
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    assert.match(stderr, /^[^\n]*npm run build[^\n]*\n$/);
  });
});

describe('before an npm script', { concurrency: 3 }, () => {
  const ready = 'scripts/ready.cjs';

  for (const { version, isNewEnough } of versions)
    test(`Node ${version} ${isNewEnough ? 'runs it' : 'gets one sentence that says what to do'}`, async (t) => {
      const options = { node: ['--import', preloadOf(version)], program: join(root, ready) };
      const { code, stdout, stderr } = await startTapfix(t, [], options).ended();
      if (isNewEnough) return assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '', stderr: '' });
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
      assert.equal(
        stderr,
        `tapfix needs Node 22.19 or newer, and this is v${version}: run npm ci --ignore-scripts=false, which brings its own Node, or install a newer one.\n`,
      );
    });

  test('packages that are not installed are one sentence', async (t) => {
    const folder = await aFolder(t);
    await mkdir(join(folder, 'scripts'));
    for (const file of [ready, 'package.json']) await cp(join(root, file), join(folder, file));
    const { code, stdout, stderr } = await startTapfix(t, [], { program: join(folder, ready) }).ended();
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    assert.match(stderr, /^The packages are not installed yet: run npm ci [^\n]*\n$/);
  });

  test('an esbuild that cannot run is one sentence', async (t) => {
    const outdir = await aFolder(t);
    const env = { ESBUILD_BINARY_PATH: join(outdir, 'esbuild') };
    await writeFile(env.ESBUILD_BINARY_PATH, 'a file that cannot be executed');
    const words = ['--outdir', join(outdir, 'dist')];
    const program = join(root, 'scripts/build.ts');
    const { code, stdout, stderr } = await startTapfix(t, words, { env, program }).ended();
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    assert.match(stderr, /^esbuild cannot run \([^\n]*\): run npm ci [^\n]*\n$/);
  });

  test('each script that runs TypeScript asks first, or begins with one that does', async () => {
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const asks = (name: string): boolean => {
      const command = scripts[name] ?? '';
      const first = /^npm run --silent (\S+)/.exec(command)?.[1];
      return first === undefined ? command.startsWith(`node ${ready} && `) : asks(first);
    };
    const unasked = Object.keys(scripts).filter((name) => !asks(name));
    assert.deepEqual(unasked, ['start', 'format']); // bin/tapfix.js asks by itself, and prettier runs anywhere
  });
});
