import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CalledAs, type Commands, type Io, runCli } from '../../../src/cli/cli.ts';
import { outputFormats, runningRoles } from '../../../src/cli/cluster-commands.ts';
import { formats } from '../../../src/cli/records/list.ts';
import { podRoles } from '../../../src/cli/running/role-pods.ts';
import { UserError } from '../../../src/lib/errors.ts';

const stopSignal = (): AbortSignal => AbortSignal.abort();

/** Runs one command line against commands that only remember how they were called. */
async function run(line: string, answer: () => number = () => 0, called?: CalledAs) {
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
    list: remember('list'),
    show: remember('show'),
    approve: remember('approve'),
    reject: remember('reject'),
    ack: remember('ack'),
    snooze: remember('snooze'),
    mute: remember('mute'),
    status: remember('status'),
    logs: remember('logs'),
    connect: remember('connect'),
    version: remember('version'),
  };
  const code = await runCli(line.split(' ').filter(Boolean), io, commands, called);
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
  { line: 'list', call: ['list', { allNamespaces: false, open: false }] },
  {
    line: 'get -A --open -o wide --context dev',
    call: ['list', { allNamespaces: true, open: true, output: 'wide', context: 'dev' }],
  },
  { line: 'show checkout -n shop -o yaml', call: ['show', { name: 'checkout', namespace: 'shop', output: 'yaml' }] },
  { line: 'approve shop/checkout --yes', call: ['approve', { name: 'shop/checkout', yes: true }] },
  { line: 'reject 3f9a1c', call: ['reject', { name: '3f9a1c', reason: '' }] },
  { line: 'reject #3f9a1c not now', call: ['reject', { name: '#3f9a1c', reason: 'not now' }] },
  { line: 'ack checkout', call: ['ack', { name: 'checkout' }] },
  { line: 'snooze checkout', call: ['snooze', { name: 'checkout', duration: '1h' }] },
  { line: 'snooze checkout 2h', call: ['snooze', { name: 'checkout', duration: '2h' }] },
  { line: 'mute', call: ['mute', { duration: '1h' }] },
  { line: 'mute shop-* off', call: ['mute', { glob: 'shop-*', duration: 'off' }] },
  { line: 'status -n ops', call: ['status', { namespace: 'ops' }] },
  { line: 'logs', call: ['logs', { role: 'watcher', follow: false, tail: 200 }] },
  { line: 'logs controller -f --tail 5', call: ['logs', { role: 'controller', follow: true, tail: 5 }] },
  { line: 'connect', call: ['connect', { role: 'watcher', port: 8080 }] },
  {
    line: 'connect controller --port 0 --remote 8081',
    call: ['connect', { role: 'controller', port: 0, remote: 8081 }],
  },
  { line: 'version --client', call: ['version', { client: true }] },
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
  { line: 'list -o table', say: /'table' is invalid\. Allowed choices are wide, json, yaml, name/ },
  { line: 'list --context=', say: /It needs the name of a context\. \(see tapfix list --help\)$/ },
  { line: 'approve', say: /missing required argument 'name' \(see tapfix approve --help\)$/ },
  { line: 'logs boss', say: /'boss' is invalid/ },
  { line: 'logs --tail many', say: /It is a whole number from 0 to 1000000\./ },
  { line: 'connect --port 70000', say: /It is a whole number from 0 to 65535\./ },
  { line: 'completion tcsh', say: /'tcsh' is invalid .*Allowed choices are bash, zsh, fish/ },
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
  ...[
    'list',
    'show',
    'approve',
    'reject',
    'ack',
    'snooze',
    'mute',
    'status',
    'logs',
    'connect',
    'version',
    'completion',
  ].map((name) => `${name} --help`),
  'help get',
]) {
  test(`tapfix ${line} ends with an example`, async () => {
    const { code, out } = await run(line);
    assert.equal(code, 0);
    assert.match(out.join('\n'), /Examples?:\n {2}.*tapfix/);
  });
}

test('the usage, the examples and the errors name the program as it was called', async () => {
  const help = await run('list --help', undefined, 'kubectl tapfix');
  assert.match(help.out.join('\n'), /^Usage: kubectl tapfix list\|get \[options\]$/m);
  assert.match(help.out.join('\n'), /^ {2}kubectl tapfix list -A$/m);
  const { err } = await run('run', undefined, 'kubectl tapfix');
  assert.match(err.join('\n'), /\(see kubectl tapfix run --help\)$/);
});

test('the words that the command line lists are those of the commands', () => {
  assert.deepEqual([outputFormats, runningRoles], [formats, podRoles]);
});

for (const shell of ['bash', 'zsh', 'fish'])
  test(`the completion for ${shell} has every command, its options and the roles`, async () => {
    const { code, out } = await run(`completion ${shell}`);
    assert.equal(code, 0);
    for (const word of ['approve', 'connect', 'watcher controller', 'all-namespaces', 'list -A -o name'])
      assert.ok(out.join('\n').includes(word), word);
  });

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
