import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnswerBudget } from '../../../src/approvals/answer-budget.ts';
import type { Answer } from '../../../src/channels/channel.ts';
import { consoleText } from '../../../src/channels/console/console-text.ts';
import { acknowledgedBy, snoozedUntil } from '../../../src/kube/remediation.ts';
import { aFix, aNotice, approvedByAda, at, condition, executed } from '../../support/fixes.ts';
import { aChat } from './chat.ts';

/* /id, /why, /handover and /test: they ask, and decide nothing. */

const text = ({ show }: Answer): string => consoleText(show!, () => undefined, 300);

for (const vendor of ['telegram', 'slack'] as const) {
  test(`${vendor}: /id answers anybody in any chat with the ids that the configuration needs`, async () => {
    const chat = aChat(vendor);
    const id = (by: string): string => by.split(':')[1]!;
    for (const place of [{ chat: chat.card.spec.chat }, { chat: 'elsewhere' }])
      for (const by of [chat.who.ada, chat.who.stranger]) {
        const { say } = await chat.write('id', { by, place });
        assert.equal(say, `The id of this chat is ${place.chat}. Your id is ${id(by)}.`);
      }
    const { say } = await chat.write('ID', { place: { chat: 'elsewhere', thread: '17' }, writtenMs: 0 });
    assert.match(say, /^The id of this chat is elsewhere \((topic|thread) 17\)\. /);
    assert.deepEqual(chat.audit, []);
  });

  test(`${vendor}: /why repeats what was recorded, to approvers in a chat of that namespace`, async () => {
    const chat = aChat(vendor, [aFix(), aNotice({ n: 3 })]);
    assert.match(
      text(await chat.write('why checkout')),
      /undo the rollout of checkout[^]*Revision 41 was seen healthy/,
    );
    assert.match(text(await chat.write('why reports')), /why no fix was proposed[^]*No fix +autoscaled/);
    for (const by of [chat.who.stranger, chat.who.cleo])
      assert.match(
        (await chat.write('why checkout', { by })).say,
        /^You are not on the approvers' list for shop \(your/,
      );
    const routes = [{ namespaces: ['shop'], chat: 'C0SHOP' }];
    if (vendor === 'telegram') chat.config.channels.telegram!.routes = routes;
    else chat.config.channels.slack!.routes = routes;
    assert.equal((await chat.write('why checkout')).say, 'News of shop is for another chat; ask there.');
  });
}

test('/why of what could not be approved, and of what failed', async () => {
  const refused = aFix({
    conditions: [condition('Confirmed', '02:12:36', { status: 'False', message: 'revision 41 was not seen healthy' })],
  });
  refused.status!.conditions = refused.status!.conditions!.filter(
    ({ type, status }) => type !== 'Confirmed' || status === 'False',
  );
  assert.match(text(await aChat('telegram', [refused]).write('why checkout')), /But +revision 41 was not seen healthy/);
  const rejected = aFix({ phase: 'Rejected', approval: { state: 'Rejected', by: 'ben', note: 'known' } });
  assert.match(text(await aChat('telegram', [rejected]).write('why checkout')), /But +rejected: "known"/);
});

const applied = (n: number, name: string, over: Parameters<typeof aFix>[0]) =>
  aFix({ n, name, approval: approvedByAda, status: { execution: executed }, ...over });

test('/handover: what is open with who is on it, what is silent and muted until when, and which fixes held', async () => {
  const open = aFix({ phase: 'Expired' });
  open.metadata.annotations = { [acknowledgedBy]: 'telegram:222', [snoozedUntil]: at('04:00:00') };
  const cleared = [condition('Recovered', '02:20:00'), condition('IncidentCleared', '02:21:00')];
  const held = applied(2, 'web', { phase: 'Recovered', conditions: cleared });
  const broke = applied(3, 'mail', { phase: 'Recovered', conditions: cleared });
  const again = aFix({ n: 4, name: 'mail', incident: { firstSeen: at('03:00:00') } });
  again.metadata.creationTimestamp = at('03:00:30');
  const failed = applied(5, 'cart', { phase: 'Failed' });
  const old = applied(6, 'old', { phase: 'Recovered', conditions: cleared });
  old.status!.execution = { ...executed, appliedAt: '2026-11-15T10:00:00Z' };
  const elsewhere = aFix({ n: 7, name: 'ledger', namespace: 'bank' });
  const chat = aChat('telegram', [open, held, broke, again, failed, old, elsewhere]);
  chat.config.channels.telegram!.routes = [{ namespaces: ['bank'], chat: '-100900' }];
  chat.mutes.push(
    { glob: 'pay-*', until: at('05:00:00'), by: 'telegram:222' },
    { glob: 'bank', until: at('05:00:00') },
  );
  const said = text(await chat.write('handover'));
  assert.match(
    said,
    /Open +#[0-9a-f]{6} shop\/cart [^]*#9001cb shop\/checkout · .* · Ben is on it\n +#[0-9a-f]{6} shop\/mail/,
  );
  assert.match(said, /Snoozed +#9001cb shop\/checkout until 05:00 CET/);
  assert.match(said, /Muted +pay-\* until 06:00 CET, by Ben\n/);
  assert.match(said, /shop\/web: \w+ at 03:14 CET, approved by Ada; healthy since 03:20 CET, it held/);
  assert.match(said, /shop\/mail: .*; it broke again at 04:00 CET/);
  assert.match(said, /shop\/cart: .*; it did not help/);
  assert.doesNotMatch(said, /ledger|bank|shop\/old/);
  assert.match(text(await chat.write('handover 3d')), /shop\/old/);
});

test('/handover of a quiet night, of a wrong time, and by a stranger', async () => {
  const chat = aChat('slack', [aFix({ phase: 'Resolved' })]);
  assert.match(text(await chat.write('handover')), /Open +nothing\nSnoozed +nothing\nMuted +nothing\nApplied +no fix/);
  for (const line of ['handover soon', 'handover 8d', 'handover 1s', 'handover 8h please'])
    assert.match((await chat.write(line)).say, /^Write it like this: \/handover 8h/, line);
  const { say } = await chat.write('handover', { by: chat.who.stranger });
  assert.equal(say, "You are not on the approvers' list (your id is U0EVE).");
});

test('/test posts its card here and says nothing; within the minute it says so', async () => {
  const chat = aChat('telegram');
  const place = { chat: '-100500', thread: '17' };
  assert.deepEqual(await chat.write('test', { place }), { say: '', alert: false });
  assert.deepEqual(chat.tests, [{ channel: 'telegram', ...place }]);
  assert.match((await chat.write('test')).say, /^A test card was posted here less than a minute ago/);
});

test('a question that the budget does not let through is not asked: the same command again is no yes', async () => {
  const chat = aChat('telegram');
  const budget = createAnswerBudget({ clock: chat.clock, current: () => chat.config });
  const write = async (text: string): Promise<Answer> => {
    const command = { channel: 'telegram', by: chat.who.ada, name: 'x', place: { chat: '-100500' } } as const;
    const id = `${text} ${Math.random()}`;
    return budget.ofCommand({ ...command, id, text }, await chat.onCommand({ ...command, id, text }));
  };
  for (let n = 0; n < 8; n++) await write('nonsense');
  for (let n = 0; n < 3; n++) assert.deepEqual(await write('approve checkout'), { say: '', alert: false });
  assert.equal(chat.approval().state, 'Pending');
  await chat.clock.advance(60_000);
  assert.ok((await write('approve checkout')).show);
  assert.equal((await write('approve checkout')).say, 'Approved; it starts now.');
});
