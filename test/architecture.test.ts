import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

/** The arrows of the design, as data: which folder of src may import which. A new folder needs a row. */
const mayImport: Record<string, readonly string[]> = {
  lib: [],
  kube: ['lib'],
  health: ['lib', 'kube'],
  config: ['lib'],
  signals: ['lib', 'kube', 'health', 'config'],
  diagnosis: ['lib', 'kube', 'health'],
  actions: ['lib', 'kube', 'health', 'diagnosis'],
  proposals: ['lib', 'kube', 'health', 'diagnosis', 'actions', 'config'],
  incidents: ['lib', 'kube', 'health', 'signals', 'config', 'diagnosis', 'proposals'],
  // Never channels, notices or approvals: the half that changes workloads cannot talk to chat.
  controller: ['lib', 'kube', 'health', 'diagnosis', 'proposals', 'actions', 'config', 'ops'],
  // Never kube: the half that talks to the internet's vendors cannot reach the cluster.
  channels: ['lib', 'config'],
  notices: ['lib', 'kube', 'config', 'actions', 'health', 'channels'],
  approvals: ['lib', 'kube', 'config', 'actions', 'channels', 'notices'],
  // Reads and explains; it is handed nothing that could write.
  explain: ['lib', 'kube', 'health', 'config', 'signals', 'incidents', 'diagnosis', 'proposals', 'notices'],
  // Offline: no cluster, no chat.
  replay: ['lib', 'kube', 'health', 'config', 'signals', 'incidents', 'proposals', 'notices', 'channels'],
  manifests: ['lib', 'kube', 'actions'],
  ops: ['lib'],
  sim: ['lib', 'kube', 'manifests'],
};
/** Shapes may be known where code may not be called. */
const mayImportTypes: Record<string, readonly string[]> = { channels: ['notices'] };
/** These put everything together: the commands, the demo, and the files directly in src. */
const isComposer = (folder: string): boolean => ['app', 'cli', 'demo'].includes(folder) || folder.endsWith('.ts');

/** Packages that only one folder knows; the rest of the code does not notice when they change. */
const packageHomes: Record<string, readonly string[]> = {
  '@kubernetes/client-node': ['kube'],
  undici: ['kube', 'channels', 'ops'],
  grammy: ['channels'],
  '@slack/bolt': ['channels'],
  'prom-client': ['ops'],
  commander: ['cli'],
};

/** Words that only some files may use. */
const reserved: { what: string; pattern: RegExp; allowed: RegExp }[] = [
  {
    what: 'reads the wall clock or sets a timer (use the Clock)',
    pattern: /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bset(Timeout|Interval)\b/,
    allowed: /^lib\/clock\.ts$/,
  },
  {
    what: 'sets a timer (use the Clock)',
    pattern: /AbortSignal\.timeout\(/,
    allowed: /^(lib\/clock|kube\/client[^/]*)\.ts$/,
  },
  { what: 'ends the process (throw a UserError)', pattern: /\bprocess\.(exit|abort|kill)\(/, allowed: /^main\.ts$/ },
  {
    what: 'opens a watch (use createWatch)',
    pattern: /(?<!\bfs)\.watch\(|\bwatch=(true|1)\b/,
    allowed: /^kube\/(client|watch)[^/]*\.ts$/,
  },
  { what: 'starts a process', pattern: /child_process/, allowed: /^$/ },
  { what: 'names Secrets as a resource to read', pattern: /(?<!\/run)['"`/]secrets['"`/?]/, allowed: /^$/ },
];

interface Import {
  from: string;
  to: string;
  typesOnly: boolean;
}
interface Source {
  path: string;
  lines: number;
  /** Without comments, which may speak of anything. */
  code: string;
  imports: Import[];
}

const root = new URL('../', import.meta.url).pathname;
const sources = readSources(join(root, 'src'));

function readSources(folder: string): Source[] {
  return filesIn(folder).map((file) => {
    const text = readFileSync(file, 'utf8');
    const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[\s;{}])\/\/.*$/gm, '$1');
    const path = relative(folder, file);
    return { path, lines: text.trimEnd().split('\n').length, code, imports: importsOf(path, code) };
  });
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));
}

function importsOf(path: string, code: string): Import[] {
  const statements = code.matchAll(/^(?:import|export)\b(\s+type\b)?[^;'"]*?(?:from\s*)?['"]([^'"]+)['"]/gm);
  const calls = code.matchAll(/\bimport\(\s*()['"]([^'"]+)['"]/g);
  return [...statements, ...calls].map(([, type, target]) => ({
    from: path,
    to: target!.startsWith('.') ? join(dirname(path), target!) : target!,
    typesOnly: Boolean(type),
  }));
}

/** `kube/client.ts` is in kube; `app.ts` stands for itself. */
const folderOf = (path: string): string => path.split('/')[0]!;
const isOurs = (path: string): boolean => path.endsWith('.ts');

function crossesAgainstTheFlow({ from, to, typesOnly }: Import): boolean {
  const [source, target] = [folderOf(from), folderOf(to)];
  if (!isOurs(to) || source === target || isComposer(source)) return false;
  const allowed = [...(mayImport[source] ?? []), ...(typesOnly ? (mayImportTypes[source] ?? []) : [])];
  return !allowed.includes(target);
}

function assertNone(violations: readonly string[], rule: string): void {
  assert.equal(violations.length, 0, `${rule}:\n${violations.map((line) => `  ${line}`).join('\n')}`);
}

test('every folder of src has a row in the table', () => {
  const folders = [...new Set(sources.map(({ path }) => folderOf(path)))];
  const unknown = folders.filter((folder) => !isComposer(folder) && !Object.hasOwn(mayImport, folder));
  assertNone(unknown, 'folders without a row in mayImport');
});

test('imports follow the flow of the design', () => {
  const wrong = sources.flatMap(({ imports }) => imports).filter(crossesAgainstTheFlow);
  assertNone(
    wrong.map(({ from, to, typesOnly }) => `src/${from} -> src/${to}${typesOnly ? ' (types)' : ''}`),
    'imports against the flow',
  );
});

test('the table itself has no circle', () => {
  const circles = (folder: string, above: readonly string[]): string[] =>
    above.includes(folder)
      ? [[...above, folder].join(' -> ')]
      : (mayImport[folder] ?? []).flatMap((next) => circles(next, [...above, folder]));
  assertNone(
    Object.keys(mayImport).flatMap((folder) => circles(folder, [])),
    'circles',
  );
});

test('each vendor package is known to its own folder only', () => {
  const isPart = (to: string, name: string): boolean => to === name || to.startsWith(`${name}/`);
  const wrong = sources
    .flatMap(({ imports }) => imports)
    .filter(({ from, to }) =>
      Object.entries(packageHomes).some(([name, homes]) => isPart(to, name) && !homes.includes(folderOf(from))),
    );
  assertNone(
    wrong.map(({ from, to }) => `src/${from} imports ${to}`),
    'packages outside their folder',
  );
});

for (const { what, pattern, allowed } of reserved) {
  test(`no file ${what} unless it is its job`, () => {
    const wrong = sources
      .filter(({ path }) => !allowed.test(path))
      .flatMap(({ path, code }) => hits(path, code, pattern));
    assertNone(wrong, what);
  });
}

const hits = (path: string, code: string, pattern: RegExp): string[] =>
  code
    .split('\n')
    .filter((line) => pattern.test(line))
    .map((line) => `src/${path}: ${line.trim()}`);

test('files stay small', () => {
  const all = sources.map(({ path, lines }) => ({ path: `src/${path}`, lines }));
  assertNone(
    all.filter(({ lines }) => lines > 300).map(({ path, lines }) => `${path}: ${lines}`),
    'over 300 lines',
  );
  const sizes = sources.map(({ lines }) => lines).sort((a, b) => a - b);
  const median = sizes[Math.floor(sizes.length / 2)]!;
  assert(median < 90, `the median source file has ${median} lines; it should have fewer than 90`);
});

test('the checks above see what they should (they are not blind)', () => {
  const code =
    "import type { A } from '../notices/message.ts';\nimport {\n  b,\n} from '../kube/api.ts';\nawait import('../app.ts');\n";
  assert.deepEqual(importsOf('channels/x.ts', code), [
    { from: 'channels/x.ts', to: 'notices/message.ts', typesOnly: true },
    { from: 'channels/x.ts', to: 'kube/api.ts', typesOnly: false },
    { from: 'channels/x.ts', to: 'app.ts', typesOnly: false },
  ]);
  assert.deepEqual(importsOf('channels/x.ts', code).map(crossesAgainstTheFlow), [false, true, true]);
  const controllerToChat = { from: 'controller/x.ts', to: 'channels/channel.ts', typesOnly: true };
  assert(crossesAgainstTheFlow(controllerToChat));
  assert.deepEqual(hits('a.ts', 'const t = Date.now();', reserved[0]!.pattern), ['src/a.ts: const t = Date.now();']);
});
