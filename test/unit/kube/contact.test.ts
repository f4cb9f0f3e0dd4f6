import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import { TooLarge } from '../../../src/kube/bounds.ts';
import { createContact } from '../../../src/kube/contact.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const seconds = (ms: number, startMs: number): number => (ms - startMs) / 1000;

function aContact() {
  const clock = fakeClock();
  const startMs = clock.now();
  const contact = createContact(clock);
  contact.begin();
  const gaps = () =>
    contact.state().gaps.map((one) => [seconds(one.fromMs, startMs), seconds(one.untilMs, startMs), one.why]);
  return { clock, startMs, contact, gaps };
}
const refused = (code: number): ApiError => new ApiError('no', code, 'No');

const reasons: [string, unknown, boolean, string][] = [
  ['nobody answers', new Unreachable('connection refused'), false, 'unreachable'],
  ['nothing comes', new Unreachable('nothing heard'), true, 'silent'],
  ['no rights', refused(403), false, 'forbidden'],
  ['no credentials', refused(401), false, 'unauthorized'],
  ['more than we take', new TooLarge('a line', 1), false, 'too large'],
  ['a server in trouble', refused(500), false, 'failing'],
  ['our own mistake', new TypeError('x is not a function'), false, 'unreachable'],
];
for (const [name, error, isSilent, why] of reasons)
  test(`why: ${name}`, () => {
    const { contact } = aContact();
    contact.failed(error, isSilent);
    assert.equal(contact.state().trouble?.why, why);
  });

test('a connection that breaks was there until then', async () => {
  const { clock, startMs, contact } = aContact();
  contact.heard();
  await clock.advance(50_000); // a quiet cluster
  contact.failed(new Unreachable('connection reset'));
  assert.equal(seconds(contact.state().trouble!.sinceMs, startMs), 50);
  await clock.advance(1_000);
  const silence = contact.heard()!;
  assert.equal(silence.untilMs - silence.fromMs, 51_000); // but who counts what was seen counts no second too many
});

test('one that dies without a word is in trouble since its last, and knows when it became known', async () => {
  const { clock, startMs, contact } = aContact();
  contact.heard();
  await clock.advance(90_000);
  contact.failed(new Unreachable('nothing heard'), true);
  await clock.advance(5_000);
  contact.failed(new Unreachable('connection refused'));
  const { sinceMs, failingSinceMs, failedAtMs, why } = contact.state().trouble!;
  assert.deepEqual(
    [sinceMs, failingSinceMs, failedAtMs].map((ms) => seconds(ms, startMs)),
    [0, 90, 95],
  );
  assert.equal(why, 'unreachable'); // the newest knows most
});

test('only long gaps are kept, and the newest ten of them', async () => {
  const { clock, contact, gaps } = aContact();
  contact.heard();
  for (let n = 0; n < 12; n++) {
    contact.failed(refused(500));
    await clock.advance(60_000);
    contact.heard();
    contact.failed(refused(500));
    await clock.advance(59_000);
    contact.heard();
  }
  assert.equal(gaps().length, 10);
  assert.deepEqual(gaps().at(-1), [11 * 119, 11 * 119 + 60, 'failing']);
  assert.equal(contact.state().trouble, undefined);
});

test('a gap is handed out once; the time before the first word is none to whoever had nothing to lose', async () => {
  const { clock, contact, gaps } = aContact();
  contact.failed(new Unreachable('connection refused'));
  await clock.advance(70_000);
  assert.equal(contact.heard(), undefined);
  assert.deepEqual(gaps(), [[0, 70, 'unreachable']]);
  assert.equal(contact.heard(), undefined);
  await clock.advance(76_000); // we slept, or nobody spoke
  assert.notEqual(contact.heard(), undefined);
  assert.equal(gaps().at(-1)![2], 'silent');
});
