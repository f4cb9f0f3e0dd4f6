import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Command } from '../../../src/channels/channel.ts';
import type { Notice } from '../../../src/kube/notice.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { shownHash } from '../../../src/notices/payload.ts';
import { reminderAnnotation } from '../../../src/notices/plan/reminder.ts';
import { aFix, aQuotaFix, at, condition } from '../../support/fixes.ts';
import { aChat } from './chat.ts';

const which: [string, Remediation[], string, Partial<Command>, RegExp][] = [
  ['a name that nothing has', [aFix()], 'ack frontend', {}, /^Nothing here is called frontend; /],
  [
    'a reply to a card of two',
    [aFix(), aFix({ n: 2, name: 'web' })],
    'ack',
    { replyTo: '4711' },
    /^Say which: #9001cb shop\/checkout, #0d6c0b shop\/web$/,
  ],
  [
    'one name in two namespaces',
    [aFix(), aFix({ n: 2, namespace: 'pay' })],
    'ack checkout',
    {},
    /^Say which: #5d3500 pay\/checkout, #9001cb shop\/checkout$/,
  ],
];
for (const [name, fixes, line, over, say] of which)
  test(`which one: ${name}`, async () => {
    const chat = aChat('telegram', fixes);
    const answer = await chat.write(line, over);
    assert.match(answer.say, say);
    assert.deepEqual([answer.alert, chat.annotations(), chat.audit.length], [true, undefined, 1]);
  });

for (const name of ['#9001cb', '9001cb', '#9001CB', '9001cb,'])
  test(`its short id names it everywhere: ${name}`, async () => {
    const chat = aChat('telegram', [aFix(), aFix({ n: 2, namespace: 'pay' })]);
    for (const line of ['show', 'why'])
      assert.match(JSON.stringify((await chat.write(`${line} ${name}`)).show), /"headline":"checkout/, line);
    assert.match((await chat.write(`snooze ${name} 2h`)).say, /^Silent until/);
    assert.match((await chat.write(`ack ${name}`)).say, /^You are on it/);
    assert.match((await chat.write(`approve ${name}`)).say, /^Really /);
    assert.match((await chat.write(`reject ${name} known`)).say, /^Rejected/);
    assert.equal(chat.approval().note, 'known');
  });

test('the id of what is over means the last time', async () => {
  const [first, last] = [1, 2].map((n) =>
    aFix({ n, phase: 'Recovered', conditions: [condition('IncidentCleared', '02:20:00')] }),
  );
  last!.metadata.creationTimestamp = at('05:00:00');
  assert.match((await aChat('telegram', [first!, last!]).write('show #9001cb')).show!.rest!, /checkout-3f9a1c-2$/);
});

test('a name in a reply to a card of two says which', async () => {
  const chat = aChat('telegram', [aFix(), aFix({ n: 2, name: 'web' })]);
  assert.match((await chat.reply('reject checkout known')).say, /^Rejected/);
  assert.equal(chat.approval().note, 'known');
});

test('a proposal that another one replaced is not approved by its workload’s name', async () => {
  const old = aFix({ phase: 'Superseded' });
  const next = aFix({ n: 2, spec: { follows: { name: old.metadata.name, uid: old.metadata.uid } } });
  assert.match((await aChat('telegram', [old, next]).write('show checkout')).show!.rest!, /checkout-3f9a1c-2$/);
});

test('one that nobody was told of here cannot be decided here', async () => {
  const chat = aChat('telegram', [aFix()], { told: [aFix({ n: 9, name: 'other' })] });
  assert.match((await chat.write('approve checkout')).say, /does not know this message here/);
});

const api = aFix({ n: 1, name: 'api' });
const web = aFix({ n: 2, name: 'web' });
const payments = aFix({ n: 3, name: 'payments' });
const over = (fix: Remediation): Remediation => ({ ...fix, status: { ...fix.status, phase: 'Resolved' } });

/** Which one was taken, or the refusal; what was written down is the first one's. */
async function taken(chat: ReturnType<typeof aChat>, text: string, more: Partial<Command> = {}): Promise<string> {
  const { say, alert } = await chat.write(text, more);
  const { fix } = chat.audit.at(-1) ?? {};
  return alert && fix === undefined ? say : String(fix);
}

describe('a reply to a card is about that card', () => {
  const cards = [[api], [payments]];
  const chat = () => aChat('telegram', [api, payments], { cards });

  test('the reason may begin with the name of something else', async () => {
    const here = chat();
    assert.equal(await taken(here, 'reject payments team handles it', { replyTo: '4711' }), 'api-3f9a1c-1');
    assert.deepEqual([here.approval().state, here.approval().note], ['Rejected', 'payments team handles it']);
  });

  const notThat = ['approve payments', 'ack payments', 'snooze payments 1h', 'approve Payments!', 'approve and payments', 'ack shop/payments', 'ack payments-3f9a1c-3', 'approve api payments']; // prettier-ignore
  for (const text of notThat)
    test(`asked which: ${text}`, async () => {
      const here = chat();
      const say = await taken(here, text, { replyTo: '4711' });
      assert.match(say, /^Say which: that card is about #495911 shop\/api, not about \S*payments\S*; reply to the/i);
      assert.deepEqual([here.approval().state, here.annotations()], ['Pending', undefined]);
      assert.deepEqual(
        here.audit.map(({ reason }) => reason),
        ['NotUnderstood'],
      );
    });

  test('also where the other one is over', async () => {
    const here = aChat('telegram', [api, over(payments)], { cards });
    assert.match(await taken(here, 'approve payments', { replyTo: '4711' }), /^Say which/);
    assert.equal(here.approval().state, 'Pending');
  });

  test('words that name nothing are no question', async () => {
    assert.equal(await taken(chat(), 'approve please', { replyTo: '4711' }), 'api-3f9a1c-1');
  });

  test('its own name may be said, anywhere', async () => {
    for (const text of ['approve api', 'approve Api', 'approve the api'])
      assert.equal(await taken(chat(), text, { replyTo: '4711' }), 'api-3f9a1c-1', text);
  });

  test('a reply to what is no card is as none', async () => {
    assert.equal(await taken(chat(), 'ack payments', { replyTo: '1' }), 'payments-3f9a1c-3');
  });

  test('what is only looked at is found by its name', async () => {
    assert.match((await chat().reply('show payments')).show!.rest!, /payments-3f9a1c-3$/);
    assert.match((await chat().reply('show')).show!.rest!, /api-3f9a1c-1$/);
  });

  test('one of its own that is over is not taken for the one that is open', async () => {
    const here = aChat('telegram', [api, over(web)]);
    assert.equal(await taken(here, 'reject web is known', { replyTo: '4711' }), 'web-3f9a1c-2');
    assert.equal(await taken(here, 'reject Web: known', { replyTo: '4711' }), 'web-3f9a1c-2');
    assert.equal(here.approval().state, 'Pending');
  });

  test('everything on it is gone', async () => {
    const here = aChat('telegram', [api], { cards: [[payments]] });
    assert.match(await taken(here, 'ack', { replyTo: '4711' }), /^What that card was about is no longer there/);
  });
});

test('two names and no reply: asked which', async () => {
  const here = aChat('telegram', [api, payments], { cards: [[api], [payments]] });
  assert.match(await taken(here, 'ack api payments'), /^Say which: #495911 shop\/api, #4af0a4 shop\/payments$/);
});

test('a yes in another chat than that where it was asked is a question there', async () => {
  const quota = aQuotaFix();
  const here = aChat('telegram', [quota]);
  const question = { by: here.who.ada, name: 'Ada', untilMs: here.clock.now() + 30_000, channel: 'telegram' } as const;
  here.confirms.arm(quota.metadata.uid, { ...question, notice: 'another chat’s', shown: shownHash(quota) });
  assert.match((await here.reply('approve')).say, /^Really delete/);
  here.card.status!.shown = here.shownNow();
  assert.match((await here.reply('approve')).say, /^Approved/);
});

test('a reminder is no card: it shows nothing of what is approved, so that is shown', async () => {
  const here = aChat('telegram', [api], { cards: [[api], [api]] });
  const [reminder, card] = here.notices;
  reminder!.metadata = {
    ...reminder!.metadata,
    name: 'reminder',
    annotations: { [reminderAnnotation]: '{"kind":"unanswered"}' },
  };
  reminder!.spec.form = 'reminder';
  reminder!.status!.shown = 'unanswered';
  card!.status!.shown = 'before the rehearsal';
  assert.match(JSON.stringify((await here.write('approve', { replyTo: '4711' })).show), /checkout:1\.42 → /);
  assert.equal(here.approval().state, 'Pending');
});

describe('no reply and no name: the only one that is open', () => {
  const others = [over(web), over(payments)];
  const chat = (fixes = [api, ...others]) => aChat('telegram', fixes, { cards: fixes.map((fix) => [fix]) });

  for (const text of ['approve', 'ack', 'snooze', 'snooze 2h', 'reject', 'reject known, fix is on its way'])
    test(text, async () => assert.equal(await taken(chat(), text), 'api-3f9a1c-1'));

  test('all words are the reason', async () => {
    const here = chat();
    await here.write('reject known, fix is on its way');
    assert.deepEqual([here.approval().state, here.approval().note], ['Rejected', 'known, fix is on its way']);
  });

  test('a reply to what is no card is as none', async () => {
    assert.equal(await taken(chat(), 'approve', { replyTo: '1' }), 'api-3f9a1c-1');
  });

  test('it is shown', async () => {
    assert.match((await chat().write('show')).show!.rest!, /api-3f9a1c-1$/);
  });

  test('a word might be a name', async () => {
    for (const text of [
      'approve chekcout',
      'ack please',
      'show chekcout',
      'snooze chekcout 1h',
      'reject payments is known',
      'reject Web, known',
      'reject shop/web known',
    ])
      assert.match((await chat().write(text)).say, /^Nothing here is called/, text);
  });

  test('none or several are open', async () => {
    for (const fixes of [
      [over(api), ...others],
      [api, payments],
    ]) {
      for (const text of ['approve', 'ack', 'show', 'snooze 1h', 'reject'])
        assert.match((await chat(fixes).write(text)).say, /^Say which: reply to its card/, text);
      assert.match((await chat(fixes).write('reject known')).say, /^Nothing here is called known; /);
    }
  });

  test('the same chain as for its button', async () => {
    const here = chat();
    assert.match((await here.write('approve', { by: here.who.stranger })).say, /not on the approvers' list/);
    assert.match((await here.write('approve')).say, /^Really /);
    assert.equal(here.approval().state, 'Pending');
  });

  const asked = /^Say which: reply to its card/;
  test('where nothing else was open it is meant as soon as it is told', async () => {
    const here = chat();
    here.card.status!.postedAt = at('02:14:09');
    assert.equal(await taken(here, 'approve'), 'api-3f9a1c-1');
  });

  test('what somebody writes is about what they saw: not when the other one that they may mean is over since this moment', async () => {
    const justOver = aFix({ n: 2, name: 'web', phase: 'Resolved', conditions: [condition('Resolved', '02:14:05')] });
    const here = chat([api, justOver]);
    for (const text of ['approve', 'reject']) assert.match((await here.write(text)).say, asked);
    assert.match((await here.write('ack')).say, /^You are on it/);
    await here.clock.advance(60_000);
    assert.equal(await taken(here, 'approve'), 'api-3f9a1c-1');
  });

  test('nor is what a storm only counts', async () => {
    const here = chat();
    here.card.spec.form = 'storm';
    for (const text of ['approve', 'reject']) assert.match((await here.write(text)).say, asked);
  });

  test('nor is what is in another topic or not told yet', async () => {
    const changes: ((card: Notice) => unknown)[] = [
      ({ spec }) => (spec.thread = '77'),
      ({ status }) => delete status!.message,
    ];
    for (const change of changes) {
      const here = chat();
      change(here.card);
      for (const text of ['approve', 'reject', 'ack']) assert.match((await here.write(text)).say, asked);
    }
    const here = chat();
    here.card.spec.thread = '77';
    assert.equal(await taken(here, 'ack', { place: { chat: '-100500', thread: '77' } }), 'api-3f9a1c-1');
  });
});
