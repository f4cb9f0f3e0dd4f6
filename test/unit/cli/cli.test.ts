import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCli, type Commands, type Io } from '../../../src/cli/cli.ts';
import { UserError } from '../../../src/lib/errors.ts';

const stopSignal = (): AbortSignal => AbortSignal.abort();

/** Runs one command line against commands that only remember how they were called. */
async function run(line: string, answer: () => number = () => 0) {
  const out: string[] = [];
  const err: string[] = [];
  const calls: unknown[] = [];
  const io: Io = { print: (text) => out.push(text), complain: (text) => err.push(text), stopSignal, stop() {} };
  const remember =
    (name: string) =>
    async (options: unknown): Promise<number> => {
      calls.push([name, options]);
      return answer();
    };
  const commands: Commands = {
    run: remember('run'),
    checkConfig: remember('check-config'),
    manifests: remember('manifests'),
    demo: remember('demo'),
    explain: remember('explain'),
    replay: remember('replay'),
  };
  const code = await runCli(line.split(' ').filter(Boolean), io, commands);
  return { code, out, err, calls };
}

const understood = [
  { line: 'run --config c.yaml', call: ['run', { configFile: 'c.yaml', role: 'all' }] },
  {
    line: 'run --config=c.yaml --role watcher --context dev',
    call: ['run', { configFile: 'c.yaml', role: 'watcher', context: 'dev' }],
  },
  { line: 'check-config c.yaml', call: ['check-config', { file: 'c.yaml' }] },
  { line: 'check-config c.yaml --context prod', call: ['check-config', { file: 'c.yaml', context: 'prod' }] },
  { line: 'manifests', call: ['manifests', {}] },
  {
    line: 'manifests --image a/b:1 --namespace ops --out dir',
    call: ['manifests', { image: 'a/b:1', namespace: 'ops', out: 'dir' }],
  },
  { line: 'explain shop/Deployment/web', call: ['explain', { target: 'shop/Deployment/web' }] },
  {
    line: 'explain shop/pod/web-0 --config c.yaml --context dev --watcher http://127.0.0.1:9',
    call: [
      'explain',
      { target: 'shop/pod/web-0', configFile: 'c.yaml', context: 'dev', watcher: 'http://127.0.0.1:9' },
    ],
  },
  {
    line: 'replay events.json --config c.yaml',
    call: ['replay', { file: 'events.json', configFile: 'c.yaml' }],
  },
  { line: 'replay -', call: ['replay', { file: '-' }] },
  { line: 'check-config -', call: ['check-config', { file: '-' }] },
  { line: 'manifests --out dir --force', call: ['manifests', { out: 'dir', force: true }] },
  { line: 'demo', call: ['demo', { yes: false, image: 'busybox:1.37' }] },
  {
    line: 'demo --scenario quota --yes --context dev --image a/b:1',
    call: ['demo', { scenario: 'quota', yes: true, context: 'dev', image: 'a/b:1' }],
  },
];
for (const { line, call } of understood) {
  test(`tapfix ${line}`, async () => {
    const { code, calls, err } = await run(line);
    assert.deepEqual({ code, calls, err }, { code: 0, calls: [call], err: [] });
  });
}

const refused = [
  { line: 'runn', say: /unknown command 'runn'.*Did you mean run\?\) \(see tapfix --help\)$/ },
  { line: 'help runn', say: /unknown command 'runn' \(see tapfix --help\)$/ },
  { line: 'run', say: /required option '--config <file>' not specified \(see tapfix run --help\)$/ },
  { line: 'run --config c.yaml --verbose', say: /unknown option '--verbose'/ },
  { line: 'run --conifg c.yaml', say: /unknown option '--conifg'.*Did you mean --config\?/ },
  { line: 'run --config c.yaml --role boss', say: /'boss' is invalid\. Allowed choices are all, watcher, controller/ },
  { line: 'run --config c.yaml --context=', say: /option --context needs the name of a context/ },
  { line: 'check-config', say: /missing required argument 'file' \(see tapfix check-config --help\)$/ },
  { line: 'check-config a b', say: /too many arguments/ },
  { line: 'explain', say: /missing required argument 'what' \(see tapfix explain --help\)$/ },
  { line: 'explain a/b/c --context=', say: /option --context needs the name of a context/ },
  { line: 'replay', say: /missing required argument 'file' \(see tapfix replay --help\)$/ },
  { line: 'demo --scenario fire', say: /'fire' is invalid\. Allowed choices are rollout, quota/ },
  { line: 'demo --context=', say: /option --context needs the name of a context/ },
  { line: 'manifests --overwrite', say: /unknown option '--overwrite' \(see tapfix manifests --help\)$/ },
];
for (const { line, say } of refused) {
  test(`tapfix ${line} is refused in one line`, async () => {
    const { code, calls, err, out } = await run(line);
    assert.deepEqual({ code, calls, out, lines: err.length }, { code: 2, calls: [], out: [], lines: 1 });
    assert.match(err[0]!, say);
    assert.doesNotMatch(err[0]!, /\n/);
  });
}

for (const line of [
  'help',
  'help run',
  '--help',
  'run --help',
  'check-config --help',
  'manifests --help',
  'explain --help',
  'replay --help',
]) {
  test(`tapfix ${line} ends with an example`, async () => {
    const { code, out } = await run(line);
    assert.equal(code, 0);
    assert.match(out.join('\n'), /Examples?:\n {2}.*tapfix/);
  });
}

test("run --help says where tapfix's own namespace comes from", async () =>
  assert.match((await run('run --help')).out.join('\n'), /POD_NAMESPACE/));

test('without a command it shows the help and says it was not enough', async () => {
  const { code, err } = await run('');
  assert.equal(code, 2);
  assert.match(err.join('\n'), /Usage: tapfix/);
});

test('--version is one line', async () => assert.match((await run('--version')).out.join(), /^\d+\.\d+\.\d+$/));

test("a command's exit code is the program's", async () => assert.equal((await run('manifests', () => 3)).code, 3));

test("a command's error is left to main", async () => {
  const fail = (): number => {
    throw new UserError('no such context', 2);
  };
  await assert.rejects(run('run --config c.yaml', fail), { message: 'no such context' });
});
