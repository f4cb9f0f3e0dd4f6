import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readToken } from '../../../src/config/load.ts';

const folder = mkdtempSync(join(tmpdir(), 'tapfix-tokens-'));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'token');
writeFileSync(file, 'from-file\n');
const empty = join(folder, 'empty');
writeFileSync(empty, '\n');
const missing = join(folder, 'missing');

const cases = [
  { name: 'nothing is set', env: {}, want: undefined },
  { name: 'the variable is set', env: { TELEGRAM_BOT_TOKEN: ' from-env\n' }, want: 'from-env' },
  { name: 'the variable is empty', env: { TELEGRAM_BOT_TOKEN: '' }, want: undefined },
  { name: 'a file is named', env: { TELEGRAM_BOT_TOKEN_FILE: file }, want: 'from-file' },
  {
    name: 'both are given: the file wins',
    env: { TELEGRAM_BOT_TOKEN: 'x', TELEGRAM_BOT_TOKEN_FILE: file },
    want: 'from-file',
  },
  {
    name: 'the file is not there, the variable is',
    env: { TELEGRAM_BOT_TOKEN: 'x', TELEGRAM_BOT_TOKEN_FILE: missing },
    want: 'x',
  },
  { name: "another's variable is set", env: { SLACK_BOT_TOKEN: 'x' }, want: undefined },
];

for (const { name, env, want } of cases) {
  test(`token when ${name}`, async () => assert.equal(await readToken('TELEGRAM_BOT_TOKEN', env), want));
}

for (const named of [missing, empty])
  test(`a token file that is ${named === missing ? 'not there' : 'empty'} is said by its name`, () =>
    assert.rejects(readToken('TELEGRAM_BOT_TOKEN', { TELEGRAM_BOT_TOKEN_FILE: named }), {
      name: 'UserError',
      message: `TELEGRAM_BOT_TOKEN_FILE names ${named}, which does not exist (yet) or is empty`,
    }));

test('a token file that is a directory is one line', async () => {
  await assert.rejects(readToken('SLACK_APP_TOKEN', { SLACK_APP_TOKEN_FILE: folder }), {
    name: 'UserError',
    message: /^SLACK_APP_TOKEN_FILE names a file that cannot be read: EISDIR/,
  });
});
