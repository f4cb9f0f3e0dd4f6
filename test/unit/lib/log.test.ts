import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, scrub } from '../../../src/lib/log.ts';

// Put together here, so that no scanner takes them for real ones.
const telegram = `123456789:${'AAF_x-9'.repeat(5)}`;
const slack = ['xoxb', '1234567890', 'abcdefABCDEF'].join('-');
const slackApp = ['xapp', '1', 'A012345', 'abcdef'].join('-');
const jwt = ['eyJhbGciOiJSUzI1NiJ9', 'eyJzdWIiOiJzeXN0ZW0ifQ', 'c2lnbmF0dXJlLXNpZ25hdHVyZQ'].join('.');

const cases = [
  { name: 'a Telegram token', text: telegram },
  { name: 'a Telegram token in a URL', text: `https://api.telegram.org/bot${telegram}/sendMessage`, secret: telegram },
  { name: 'a Slack token', text: slack },
  { name: 'a Slack app token', text: slackApp },
  { name: "a ServiceAccount's token", text: `token ${jwt} expired`, secret: jwt },
  { name: 'any bearer token', text: 'Authorization: Bearer abc.def~ghi+jkl/==', secret: 'abc.def~ghi+jkl/==' },
];

for (const { name, text, secret = text } of cases) {
  test(`${name} does not pass`, () => {
    assert.equal(scrub(text).includes(secret), false, scrub(text));
    assert.match(scrub(text), /\[secret\]/);
  });

  test(`${name} reaches no log line, at whatever depth`, () => {
    const lines: string[] = [];
    const log = createLog({ write: (line) => lines.push(line) });
    log.warn({ deep: { deeper: [{ text }] }, err: new Error(text, { cause: new Error(text) }) }, text);
    assert.equal(lines.length, 1);
    assert.equal(lines[0]!.includes(secret), false, lines[0]);
    assert.doesNotThrow(() => JSON.parse(lines[0]!));
  });
}

test('ordinary text passes as it is', () => {
  const text =
    'image registry.example.com:5000/api@sha256:0123456789abcdef at 03:12:05, uid 3f2b1c9e-0000-4000-8000-000000000000';
  assert.equal(scrub(text), text);
});

test('a line is JSON with level, time and words; what is below the level is not written', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', write: (line) => lines.push(line) });
  log.debug({}, 'quiet');
  log.info({ kind: 'Pod' }, 'watch is back');
  const { level, time, kind, msg } = JSON.parse(lines.join('')) as Record<string, string>;
  assert.deepEqual({ level, kind, msg }, { level: 'info', kind: 'Pod', msg: 'watch is back' });
  assert.match(time!, /^\d{4}-\d\d-\d\dT/);
});
