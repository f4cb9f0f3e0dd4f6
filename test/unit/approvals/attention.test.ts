import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/kube/api.ts';
import { acknowledgedBy, snoozedUntil } from '../../../src/kube/remediation.ts';
import { aFix, aNotice, at, condition } from '../../support/fixes.ts';
import { aBooth } from './booth.ts';

const words = (booth: ReturnType<typeof aBooth>): unknown[] =>
  booth.audit.map(({ decision, reason }) => reason ?? decision);

test('“I’m on it” names who, once; whoever says it later takes over', async () => {
  const booth = aBooth();
  assert.deepEqual(await booth.press('k'), { say: 'You are on it; nobody is reminded any more.', alert: false });
  assert.deepEqual(booth.annotations(), { [acknowledgedBy]: 'telegram:123456789' });
  assert.deepEqual(await booth.press('k'), { say: 'You are on it already.', alert: true });
  assert.deepEqual(await booth.press('k', 222), { say: 'You took this over from Ada.', alert: false });
  assert.deepEqual(words(booth), ['Acknowledged', 'AlreadyDecided', 'Acknowledged']);
  assert.equal(booth.approval().state, 'Pending');
});

test('“Snooze 1h” is an hour from now', async () => {
  const booth = aBooth();
  assert.deepEqual(await booth.press('z'), { say: 'Silent until 04:14 CET.', alert: false });
  assert.deepEqual(booth.annotations(), { [snoozedUntil]: at('03:14:10').replace('Z', '.000Z') });
});

const people = [
  { name: 'a stranger', id: 666, say: "You are not on the approvers' list.", reason: 'NotAnApprover' },
  { name: 'an approver of another namespace', id: 333, say: "You are not on the approvers' list for shop.", reason: 'NotAllowedHere' },
]; // prettier-ignore
for (const verb of ['k', 'z'] as const)
  for (const { name, id, say, reason } of people)
    test(`refused: ${verb} by ${name}`, async () => {
      const booth = aBooth();
      assert.deepEqual(await booth.press(verb, id), { say, alert: true });
      assert.deepEqual([booth.annotations(), words(booth)], [undefined, [reason]]);
    });

test('RBAC rules these as well where a person is mapped, and what only shows is nobody’s right', async () => {
  const booth = aBooth();
  booth.hooks.rbac = false;
  assert.match((await booth.press('k', 444)).say, /^Kubernetes does not let dee@example.com/);
  assert.equal((await booth.press('d', 444)).alert, false);
});

test('a conflict is judged again, a refusing cluster is quoted', async () => {
  const booth = aBooth();
  let changes = 0;
  booth.hooks.beforePatch = () => void (changes++ < 1 && booth.change(booth.live()));
  assert.equal((await booth.press('k')).alert, false);
  booth.hooks.patch = async () => Promise.reject(new ApiError('must name who sets it', 403, 'Forbidden'));
  assert.equal((await booth.press('z')).say, 'The cluster refused it: must name who sets it');
});

const over = aFix({ phase: 'Recovered', conditions: [condition('Recovered', '02:14:00')] });
for (const verb of ['k', 'z'] as const)
  test(`what is over needs nobody: ${verb}`, async () => {
    const booth = aBooth(over);
    assert.equal((await booth.press(verb)).say, 'This is over; there is nothing to do any more.');
  });

test('what nothing can be done about, and what ran out, can still be taken', async () => {
  for (const fix of [aNotice(), aFix({ phase: 'Expired', conditions: [condition('Expired', '02:14:00')] })])
    assert.equal((await aBooth(fix).press('k')).alert, false);
});

const event = (name: string, message: string, minute: string): object => ({
  metadata: {
    name: `${name}.1`,
    namespace: 'shop',
    uid: name,
    resourceVersion: '1',
    creationTimestamp: at('02:00:00'),
  },
  involvedObject: { kind: 'Pod', name, namespace: 'shop' },
  type: 'Warning',
  reason: 'BackOff',
  message,
  count: 3,
  lastTimestamp: at(`02:${minute}:00`),
});

test('Details shows everybody in the chat what the card has no room for', async () => {
  const booth = aBooth();
  booth.events.push(
    event('checkout-1', 'password=hunter2 refused', '10'),
    event('checkout-2', 'restarting', '11'),
    event('cart-1', 'restarting', '12'),
  );
  const { say, alert, show } = await booth.press('d', 666);
  assert.deepEqual([say, alert, show?.silent], ['', false, true]);
  const [card] = show!.cards;
  const text = JSON.stringify(card);
  assert.match(card!.subtitle!, /Remediation checkout-3f9a1c-1/);
  assert.deepEqual(card!.rows.find(({ label }) => label === 'Events')!.lines, [
    '03:11:00 Pod checkout-2: BackOff (3 times): restarting',
    '03:10:00 Pod checkout-1: BackOff (3 times): password=[redacted] refused',
  ]);
  for (const part of [
    '14 restarts of 3 pods',
    'shop/checkout:1.42',
    'kubectl -n shop get fix checkout-3f9a1c-1 -o yaml',
    'patch fix',
  ])
    assert.ok(text.includes(part), part);
  assert.deepEqual(card!.buttons, []);
  assert.deepEqual(words(booth), ['Shown']);
});

test('Details hides in the diff what the card hides in it', async () => {
  const preview = { diff: 'env DB_PASSWORD  hunter2 → password=hunter3', targetHash: 'abc', at: at('02:12:36') };
  const { show } = await aBooth(aFix({ status: { preview } })).press('d');
  assert.doesNotMatch(JSON.stringify(show), /hunter3/);
  assert.match(JSON.stringify(show), /password=\[redacted\]/);
});

test('Details in another chat shows nothing, and without events it says so', async () => {
  const booth = aBooth();
  assert.match((await booth.press('d', 123456789, { place: { chat: '-1' } })).say, /does not know this message/);
  const blind = aBooth(aFix(), {
    api: {
      get: async () => aFix(),
      page: async () => Promise.reject(new Error('no')),
      patch: async () => aFix(),
    } as never,
  });
  const { show } = await blind.press('d');
  assert.match(JSON.stringify(show), /they could not be read/);
});

test('what an answer showed is as good as the card in the same chat, and nowhere else', async () => {
  const shown = { message: '9999', ours: true } as const;
  assert.equal((await aBooth().press('a', 123456789, shown)).alert, false);
  assert.match((await aBooth().press('a', 123456789, { ...shown, place: { chat: '-1' } })).say, /does not know/);
  assert.match((await aBooth().press('a', 123456789, { message: '9999' })).say, /does not know/);
});
