import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { root } from './support/tapfix.ts';

/* What `npm pack` makes, installed into an empty directory without any network. */

let empty: string;
let files: string[];

interface Answer {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Nothing of the project is reachable: no node_modules above, nothing in the cache, and no registry. */
function run(command: string, words: string[], env: Record<string, string> = {}): Answer {
  const path = [dirname(process.execPath), join(empty, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
  const offline = {
    npm_config_cache: join(empty, '.cache'),
    npm_config_registry: 'http://127.0.0.1:1/',
    npm_config_offline: 'true',
  };
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd: empty,
    encoding: 'utf8',
    timeout: 150_000,
    env: { PATH: path, HOME: empty, ...offline, ...env },
  });
  return { status, stdout, stderr };
}

before(async () => {
  empty = await mkdtemp(join(tmpdir(), 'tapfix-package-'));
  const packed = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', empty], {
    cwd: root,
    encoding: 'utf8',
  });
  const [{ filename, files: inside }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }];
  files = inside.map(({ path }) => path);
  await mkdir(join(empty, '.cache'));
  const { status, stderr } = run('npm', ['install', '--no-audit', '--no-fund', join(empty, filename)]);
  assert.equal(status, 0, stderr);
});

after(() => rm(empty, { recursive: true, force: true }));

describe('the npm package', { concurrency: 1 }, () => {
  test('has the bundle, the licences and what people copy, and nothing of the project beside it', () => {
    for (const file of [
      'LICENSE',
      'README.md',
      'config.example.yaml',
      'config.starter.yaml',
      'dist/main.js',
      'dist/THIRD-PARTY-LICENSES.txt',
    ])
      assert.ok(files.includes(file), file);
    const others = files.filter(
      (file) => !/^(bin|dist|deploy)\/|^(LICENSE|README\.md|package\.json|config\.(example|starter)\.yaml)$/.test(file),
    );
    assert.deepEqual(others, []);
  });

  test('needs no other package', async () => {
    const lock = JSON.parse(await readFile(join(empty, 'package-lock.json'), 'utf8')) as { packages: object };
    assert.deepEqual(Object.keys(lock.packages), ['', 'node_modules/tapfix']);
  });

  test('npx tapfix --version, check-config and demo --yes work', async () => {
    const version = run('npx', ['--no-install', 'tapfix', '--version']);
    const { version: own } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    assert.deepEqual([version.status, version.stdout.trim()], [0, own]);
    const example = join(empty, 'node_modules/tapfix/config.example.yaml');
    const checked = run('npx', ['--no-install', 'tapfix', 'check-config', example]);
    assert.deepEqual([checked.status, checked.stdout.split('\n')[0]], [0, 'ok']);
    const played = run('npx', ['--no-install', 'tapfix', 'demo', '--yes', '--scenario', 'quota']);
    assert.equal(played.status, 0, played.stdout + played.stderr);
    assert.match(played.stdout, /recovered/i);
  });

  test('kubectl finds it through PATH, by the name that it looks for', () => {
    const { status, stdout } = run('kubectl-tapfix', ['list', '--help']);
    assert.equal(status, 0);
    assert.match(stdout, /^Usage: kubectl tapfix list\|get/);
  });

  test('a Node that is too old gets one sentence, which does not send anybody to a clone', () => {
    const preload = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.1.0'})`;
    const { status, stderr } = run('tapfix', ['--version'], { NODE_OPTIONS: `--import ${preload}` });
    assert.equal(status, 1);
    assert.match(stderr, /^tapfix needs Node 22\.19 or newer; this is v[\d.]+\. Install a newer one\.\n$/);
  });
});
