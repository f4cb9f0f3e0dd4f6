import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Press } from '../../../src/channels/channel.ts';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { encodePress } from '../../../src/notices/payload.ts';
import { aFix, approvedByAda, aQuotaFix, condition } from '../../support/fixes.ts';
import { aBooth } from './booth.ts';

test('an approval is recorded with who, when and how, and is one audit line', async () => {
  const booth = aBooth();
  assert.deepEqual(await booth.press('a'), { say: 'Approved; it starts now.', alert: false });
  assert.deepEqual(booth.approval(), {
    state: 'Approved',
    by: 'telegram:123456789',
    at: '2026-11-16T02:14:10.000Z',
    via: 'telegram',
  });
  assert.deepEqual(booth.audit, [
    {
      audit: true,
      decision: 'Approved',
      by: 'telegram:123456789',
      name: 'somebody',
      channel: 'telegram',
      namespace: 'shop',
      fix: 'checkout-3f9a1c-1',
      action: 'RolloutUndo',
      reason: undefined,
    },
  ]);
});

test('a target that is no longer as it was shown is not approved, and may still be rejected', async () => {
  const booth = aBooth();
  booth.target.prepared = { ok: true, targetHash: 'another' } as never;
  assert.equal(
    (await booth.press('a')).say,
    'The Deployment has changed since this was shown; nothing was done. A new proposal follows.',
  );
  booth.target.prepared = { ok: false, reason: 'Paused', say: 'Deployment checkout is paused.' };
  assert.equal((await booth.press('a')).say, 'Deployment checkout is paused. Nothing was done.');
  assert.equal(booth.approval().state, 'Pending');
  await booth.press('r');
  assert.equal(booth.approval().state, 'Rejected');
});

test('a rejection is recorded', async () => {
  const booth = aBooth();
  assert.equal((await booth.press('r')).say, 'Rejected; nothing is changed.');
  assert.equal(booth.approval().state, 'Rejected');
});

test('two people at once: one wins, the other is told who', async () => {
  const booth = aBooth();
  const [ada, ben] = await Promise.all([booth.press('a'), booth.press('a', 222)]);
  assert.deepEqual(ada, { say: 'Approved; it starts now.', alert: false });
  assert.deepEqual(ben, { say: 'Ada approved this 0 s ago.', alert: true });
  assert.equal(booth.approval().by, 'telegram:123456789');
  assert.deepEqual(
    booth.audit.map(({ decision, reason }) => [decision, reason]),
    [
      ['Approved', undefined],
      ['Refused', 'AlreadyDecided'],
    ],
  );
});

test('a conflict by a status change alone is tried again', async () => {
  const booth = aBooth();
  let changes = 0;
  booth.hooks.beforePatch = () => void (changes++ < 2 && booth.change(booth.live()));
  assert.equal((await booth.press('a')).alert, false);
  assert.equal(booth.approval().state, 'Approved');
});

test('after three conflicts the presser is asked to press again', async () => {
  const booth = aBooth();
  booth.hooks.beforePatch = () => booth.change(booth.live());
  assert.match((await booth.press('a')).say, /could not be recorded, press again/);
  assert.equal(booth.approval().state, 'Pending');
});

test('a target that changed between reading and patching is judged again', async () => {
  const booth = aBooth();
  let once = true;
  booth.hooks.beforePatch = () => {
    const { preview } = booth.live().status!;
    if (once)
      booth.change({
        ...booth.live(),
        status: { ...booth.live().status, preview: { ...preview!, targetHash: 'other' } },
      });
    once = false;
  };
  assert.match((await booth.press('a')).say, /has changed since this was shown/);
});

test('a server that does not answer: said after 3 s, and a patch that lands late decides the next press', async () => {
  const booth = aBooth();
  booth.hooks.patch = () => booth.clock.sleep(5_000);
  const answer = booth.press('a');
  await booth.clock.advance(3_000);
  assert.deepEqual(await answer, {
    say: 'The cluster did not answer in time; if the decision was recorded this message will say so, else press again.',
    alert: true,
  });
  await booth.clock.advance(2_000);
  assert.equal((await booth.press('a')).say, 'You approved this 5 s ago.');
  assert.deepEqual(
    booth.audit.map(({ decision }) => decision),
    ['Refused', 'Approved', 'Refused'],
  );
});

test('a reading that comes too late starts no patch', async () => {
  const booth = aBooth();
  booth.hooks.get = () => booth.clock.sleep(5_000);
  const answer = booth.press('a');
  await booth.clock.advance(10_000);
  assert.equal((await answer).alert, true);
  assert.equal(booth.approval().state, 'Pending');
});

test('a comparison with the live target that comes too late starts no patch and asks nothing', async () => {
  for (const fix of [aFix(), aQuotaFix()]) {
    const booth = aBooth(fix);
    booth.hooks.prepare = () => booth.clock.sleep(5_000);
    const answer = booth.press('a');
    await booth.clock.advance(10_000);
    assert.equal((await answer).alert, true);
    assert.equal(booth.approval().state, 'Pending');
    assert.deepEqual(
      booth.audit.map(({ decision }) => decision),
      ['Refused'],
    );
  }
});

test('an unreachable server and a refusing one are said', async () => {
  const booth = aBooth();
  booth.hooks.patch = async () => Promise.reject(new Unreachable('reset'));
  assert.match(
    (await booth.press('a')).say,
    /could not be reached; if the decision was recorded this message will say so/,
  );
  booth.hooks.patch = async () => Promise.reject(new ApiError('admission: needs approve', 403, 'Forbidden'));
  assert.equal((await booth.press('a')).say, 'The cluster refused it: admission: needs approve');
});

test('something destructive is asked once more, of that presser, for 30 s', async () => {
  const booth = aBooth(aQuotaFix());
  assert.deepEqual(await booth.press('a'), {
    say: 'Really delete quota platform-hardening? You have 30 s to say yes.',
    alert: false,
  });
  assert.equal(booth.approval().state, 'Pending');
  assert.match((await booth.press('c', 222)).say, /Ada is being asked/);
  assert.equal((await booth.press('c')).say, 'Approved; it starts now.');
  assert.match(
    (await booth.press('c', 222)).say,
    /^Ada approved this/,
    'the question that is still open matters no more',
  );
});

test('a decision asks for no edit of its own: the card changes once, with the Remediation', async () => {
  const booth = aBooth(aQuotaFix());
  await booth.press('a');
  let changes = 0;
  booth.confirms.onChange(() => changes++);
  await booth.press('c');
  assert.equal(changes, 0);
});

test('the question runs out after 30 s, and Back takes it back', async () => {
  const booth = aBooth(aQuotaFix());
  await booth.press('a');
  await booth.clock.advance(30_000);
  assert.match((await booth.press('c')).say, /has run out/);
  await booth.press('a');
  assert.equal((await booth.press('b')).say, 'Nothing was done.');
  assert.match((await booth.press('c')).say, /has run out/);
});

test('who is mapped to a Kubernetes user needs its right as well', async () => {
  const booth = aBooth();
  booth.hooks.rbac = false;
  assert.equal((await booth.press('a', 444)).say, 'Kubernetes does not let dee@example.com approve in shop.');
  assert.equal(booth.audit[0]?.['reason'], 'RefusedByRbac');
  booth.hooks.rbac = true;
  assert.equal((await booth.press('a', 444)).alert, false);
});

const notNow: [string, Remediation][] = [
  ['expired', aFix({ phase: 'Expired', conditions: [condition('Expired', '02:14:00')] })],
  ['decided', aFix({ approval: approvedByAda })],
  ['not rehearsed', aFix({ unrehearsed: true })],
];
for (const [name, fix] of notNow)
  test(`who may not decide is told so, whatever became of it: ${name}`, async () => {
    const booth = aBooth(fix);
    booth.hooks.rbac = false;
    assert.match((await booth.press('a', 444)).say, /^Kubernetes does not let dee@example.com approve in shop/);
    booth.hooks.rbac = true;
    assert.doesNotMatch((await booth.press('a', 444)).say, /^Kubernetes does not let/);
  });

test('the cluster is asked once about a press, and only about people who are mapped and may decide otherwise', async () => {
  let asked = 0;
  const booth = aBooth(aFix(), { subjectAccess: async () => (asked++, true) });
  for (const id of [123456789, 333, 666]) await booth.press('k', id);
  await booth.press('a', 444, { message: '1' });
  await booth.press('d', 444);
  assert.equal(asked, 0);
  let changes = 0;
  booth.hooks.beforePatch = () => void (changes++ < 2 && booth.change(booth.live()));
  assert.equal((await booth.press('a', 444)).say, 'Approved; it starts now.');
  assert.equal(asked, 1);
});

test('what ran out while the cluster was asked is too late', async () => {
  const fix = aFix();
  const booth = aBooth(fix, { subjectAccess: async () => (await booth.clock.advance(2_000), true) });
  await booth.clock.advance(Date.parse(fix.metadata.creationTimestamp) + 30 * 60_000 - 1_000 - booth.clock.now());
  assert.match((await booth.press('a', 444)).say, /^This expired at/);
  assert.equal(booth.approval().state, 'Pending');
});

const strange: { name: string; over: Partial<Press>; say: RegExp }[] = [
  { name: 'a button of another bot', over: { data: 'vote:1' }, say: /does not know this button/ },
  {
    name: 'the same button forwarded to another chat',
    over: { place: { chat: '-1' } },
    say: /does not know this message/,
  },
  { name: 'another message of the chat', over: { message: '1' }, say: /does not know this message/ },
  { name: 'a Remediation nobody knows', over: { data: encodePress('a', aFix({ n: 99 })) }, say: /is gone/ },
];
for (const { name, over, say } of strange) {
  test(`refused and audited: ${name}`, async () => {
    const booth = aBooth();
    const answer = await booth.press('a', 123456789, over);
    assert.match(answer.say, say);
    assert.equal(answer.alert, true);
    assert.equal(booth.audit.length, 1);
    assert.equal(booth.approval().state, 'Pending');
  });
}
