import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
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

test('a file holds one idea: at most 500 lines, and a folder at most 25 files', () => {
  assertNone(
    sources.filter(({ lines }) => lines > 500).map(({ path, lines }) => `src/${path}: ${lines}`),
    'over 500 lines',
  );
  const folders = Map.groupBy(sources, ({ path }) => dirname(path));
  assertNone(
    [...folders].filter(([, files]) => files.length > 25).map(([folder, files]) => `src/${folder}: ${files.length}`),
    'over 25 files',
  );
});

/** Tables whose rows are files: a row may be short. */
const tables = ['actions/table.ts', 'proposals/derive.ts', 'cli/cli.ts', 'app/app.ts'];

test('a helper with one caller lives in the file of its caller', () => {
  const importers = new Map<string, Set<string>>();
  for (const { from, to } of sources.flatMap(({ imports }) => imports))
    importers.set(to, (importers.get(to) ?? new Set()).add(from));
  const lonely = sources.filter(({ path, lines }) => {
    const [only, ...others] = importers.get(path) ?? [];
    return (
      lines < 40 &&
      only !== undefined &&
      others.length === 0 &&
      dirname(only) === dirname(path) &&
      !tables.includes(only)
    );
  });
  assertNone(
    lonely.map(({ path, lines }) => `src/${path}: ${lines} lines, only for ${[...importers.get(path)!][0]}`),
    'small files whose only importer stands beside them',
  );
});

/** Parallel members of one family: each channel has its own, and each street its own pure decision. */
const families = ['render.ts', 'answers.ts', 'failures.ts', 'decide.ts'];

test('a file name exists once in src, so that "go to file" finds the one', () => {
  const named = Map.groupBy(sources, ({ path }) => basename(path));
  const twice = [...named].filter(([name, files]) => files.length > 1 && !families.includes(name));
  assertNone(
    twice.map(([name, files]) => `${name}: ${files.map(({ path }) => path).join(', ')}`),
    'file names that exist twice',
  );
});

test('an exported type exists once in src, so that "go to symbol" finds the one', () => {
  const places = sources.flatMap(({ path, code }) =>
    [...code.matchAll(/^export (?:interface|type|class) (\w+)/gm)].map(([, name]) => ({ name: name!, path })),
  );
  const twice = [...Map.groupBy(places, ({ name }) => name)].filter(([, all]) => all.length > 1);
  assertNone(
    twice.map(([name, all]) => `${name}: ${all.map(({ path }) => path).join(', ')}`),
    'types that exist twice',
  );
});

test('no file imports itself in a circle', () => {
  const needs = new Map(
    sources.map(({ path, imports }) => [path, imports.filter(({ typesOnly }) => !typesOnly).map(({ to }) => to)]),
  );
  const seen = new Set<string>();
  const circles: string[] = [];
  const walk = (path: string, above: readonly string[]): void => {
    if (above.includes(path)) circles.push([...above.slice(above.indexOf(path)), path].join(' -> '));
    if (seen.has(path)) return;
    seen.add(path);
    for (const next of needs.get(path) ?? []) walk(next, [...above, path]);
  };
  for (const path of needs.keys()) walk(path, []);
  assertNone(circles, 'circles');
});

const withoutTexts = (code: string): string =>
  code.replace(
    /'(?:[^'\\\n]|\\.)*'|`[^`$]*`|"[^"\n]*"|(?<=[[(,=:\s])\/(?![/*\s])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g,
    "''",
  );

/** The brackets that open after this place, to where they close again. */
function bracketsAfter(code: string): string {
  let depth = 0;
  for (const [index, character] of [...code].entries()) {
    if ('[{('.includes(character)) depth += 1;
    if (']})'.includes(character) && --depth === 0) return code.slice(0, index + 1);
  }
  return code;
}

/** The code that each `prettier-ignore` is about: what follows it, or, at the end of a line, what ends there. */
function ignored(code: string): string[] {
  const plain = withoutTexts(code);
  return [...plain.matchAll(/\/\/ prettier-ignore/g)].map(({ index }) => {
    const before = plain.slice(0, index);
    if (/(^|\n)\s*$/.test(before)) return bracketsAfter(plain.slice(index + '// prettier-ignore'.length));
    const mirrored = [...before].toReversed().map((one) => mirror[one] ?? one);
    return [...bracketsAfter(mirrored.join(''))].toReversed().join('');
  });
}
const mirror: Record<string, string> = { '[': ']', ']': '[', '{': '}', '}': '{', '(': ')', ')': '(' };

test('prettier-ignore stands only on tables of literals', () => {
  const files = ['src', 'test', 'bench', 'scripts'].flatMap((folder) => filesIn(join(root, folder)));
  const wrong = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    if (file.endsWith('architecture.test.ts')) return [];
    const isTable = (code: string): boolean => !/=>|=\s*>|\bfunction\b|(?<!\bnew (?:Map|Set))(?<=\w)[()]/.test(code);
    const others = ignored(text).filter((code) => !isTable(code)).length;
    return others > 0 ? [`${relative(root, file)}: ${others}`] : [];
  });
  assertNone(wrong, 'prettier-ignore on something else');
});

test('a comment begins with its subject, not with a clause that has none', () => {
  const clause = /(?:\/\*\*(?:\n\s*\*)?|(?<!\/\/.*\n\s*)\/\/) (?:Of|Whose|To what|What|Who|That|Such|Which) .*/g;
  const wrong = filesIn(join(root, 'src')).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(clause)].map(([line]) => `${relative(root, file)}: ${line}`),
  );
  assertNone(wrong, 'comments that are hard to read');
});

/** Calls such as `createX({ ...deps })`: the reader cannot see which `current` that part gets. */
function spreads(path: string, code: string): string[] {
  const calls = [...withoutTexts(code).matchAll(/(?<![.\w]|function )(create[A-Z]\w*)\((?=\{)/g)];
  return calls.flatMap(({ 0: start, 1: name, index }) => {
    const given = bracketsAfter(withoutTexts(code).slice(index + start.length));
    const ofItsOwn = given
      .slice(1)
      .replace(/[[{(][^[\]{}()]*[\]})]/g, '')
      .replace(/[[{(][^[\]{}()]*[\]})]/g, '');
    return /\.\.\.\w/.test(ofItsOwn) ? [`src/${path}: ${name}`] : [];
  });
}

test('a part is made from what it needs, by name', () => {
  const ours = sources.filter(({ path }) => folderOf(path) !== 'sim');
  assertNone(
    ours.flatMap(({ path, code }) => spreads(path, code)),
    "parts that are made from somebody else's dependencies",
  );
});

/** Folders of test/unit whose tests are about something else than src. The last row that fits counts. */
const unitRoots: Record<string, string> = {
  '': 'src',
  cluster: 'test/cluster',
  e2e: 'test/e2e/support',
  pictures: 'scripts/pictures',
  soak: 'scripts/soak',
  'sim/full-sim': 'test/sim',
};

/** `kube/watch.test.ts` and `kube/watch.aspect.test.ts` are both about src/kube/watch.ts. */
function sourceOf(unitTest: string): string {
  const isIn = (folder: string): boolean => folder === '' || unitTest.startsWith(`${folder}/`);
  const folder = Object.keys(unitRoots).findLast(isIn)!;
  const [name] = basename(unitTest).split('.');
  return join(unitRoots[folder]!, relative(folder, dirname(unitTest)), `${name}.ts`);
}

test('a unit test file is named after the file it tests: X.test.ts, or X.aspect.test.ts', () => {
  const folder = join(root, 'test/unit');
  const tests = filesIn(folder)
    .map((file) => relative(folder, file))
    .filter((file) => file.endsWith('.test.ts'));
  assertNone(
    tests
      .filter(
        (file) => !/^[\w-]+(\.[a-z-]+)?\.test\.ts$/.test(basename(file)) || !existsSync(join(root, sourceOf(file))),
      )
      .map((file) => `test/unit/${file} is no test of ${sourceOf(file)}`),
    'unit tests without the file they test, or with more than one aspect',
  );
});

test('`current()` always means the configuration in force', () => {
  const wrong = sources.flatMap(({ path, code }) =>
    [...code.matchAll(/\bcurrent\??(?:: \(\) => |\(\): )(\w+)/g)]
      .filter(([, type]) => /^[A-Z]/.test(type!) && type !== 'Config')
      .map(([text]) => `src/${path}: ${text}`),
  );
  assertNone(wrong, 'other meanings of current()');
});

test('every file that CONTRIBUTING.md names exists', () => {
  const named = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(
    /`((?:src|test|docs|scripts|bench)\/[\w./-]+\.\w+)`/g,
  );
  const missing = [...named].map(([, path]) => path!).filter((path) => !existsSync(join(root, path)));
  assertNone(missing, 'files that do not exist');
});

test("an Event's way to a message is at most 45 files", () => {
  const [way = ''] =
    /\*\*An Event's way to a message\*\*[\s\S]*?\*\*A tap's way/.exec(
      readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'),
    ) ?? [];
  const files = new Set([...way.matchAll(/`(src\/[\w./-]+\.ts)`/g)].map(([, path]) => path));
  assert(files.size > 20 && files.size <= 45, `${files.size} files`);
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
  assert.deepEqual(ignored("// prettier-ignore\nconst a = ['(', 1];\nf(2);\n"), ["\nconst a = ['', 1]"]);
  assert.deepEqual(ignored('const a = [f(1)]; // prettier-ignore\n').filter((code) => code.includes('f')).length, 1);
  assert.deepEqual(spreads('a.ts', 'const a = createA({ b, ...deps });'), ['src/a.ts: createA']);
  assert.deepEqual(spreads('a.ts', 'const a = createA({ b: () => f({ ...c }) });'), []);
  assert.deepEqual(
    [
      'a/b.test.ts',
      'a/b.aspect.test.ts',
      'a.test.ts',
      'cluster/a.test.ts',
      'sim/full-sim/a.test.ts',
      'sim/a.test.ts',
    ].map(sourceOf),
    ['src/a/b.ts', 'src/a/b.ts', 'src/a.ts', 'test/cluster/a.ts', 'test/sim/a.ts', 'src/sim/a.ts'],
  );
  assert.deepEqual(hits('a.ts', 'const t = Date.now();', reserved[0]!.pattern), ['src/a.ts: const t = Date.now();']);
});
