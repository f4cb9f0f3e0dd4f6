import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPages, type PagesDeps } from '../../../src/approvals/pages.ts';
import type { Answer, Press } from '../../../src/channels/channel.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import type { Message } from '../../../src/notices/cards/message.ts';
import { encodePress } from '../../../src/notices/payload.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aConfig, aFix, aNoticeOf, approvedByAda, at } from '../../support/fixes.ts';
import { aBooth } from './booth.ts';

const name = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const members = Array.from({ length: 25 }, (_, n) => aFix({ n: n + 1, name: `svc-${n + 1}` }));
const notice = (() => {
  const made = aNoticeOf(members, { form: 'storm' }, { message: '7' });
  return { ...made, metadata: { ...made.metadata, name } };
})();

const buttons = ({ cards, buttons = [] }: Message) => [...cards, { buttons }].flatMap((card) => card.buttons.flat());

function aList(over: Partial<PagesDeps> = {}) {
  const judged: Press[] = [];
  const counted: string[] = [];
  const booth = aBooth(members[0], { onDecision: (channel, result) => void counted.push(`${channel} ${result}`) });
  const lines = booth.audit;
  const answer: Answer = { say: 'Approved; it starts now.', alert: false };
  const pages = createPages({
    api: { get: (async () => undefined) as never },
    clock: fakeClock(Date.parse(at('02:13:00'))),
    audit: booth.approvals.audit,
    current: () => aConfig(),
    timeZone: 'Europe/Berlin',
    ownNamespace: 'tapfix',
    confirms: { armedFor: () => undefined, onChange() {} },
    tests: { press: async () => true },
    posted: (of) => (of === name ? { notice, message: '7', members } : undefined),
    onPress: async (press) => (judged.push(press), answer),
    ...over,
  });
  const press = (data: string, more: Partial<Press> = {}): Promise<Answer> =>
    pages({
      channel: 'telegram',
      by: 'telegram:123456789',
      name: 'ada',
      place: { chat: '-100500' },
      message: '7',
      data,
      ...more,
    });
  /** "Show all" on the message, then the button of that name on each page that comes. */
  async function open(turns: string[] = []): Promise<Message> {
    let { show } = await press(pageOne);
    for (const label of turns) {
      const button = buttons(show!).find((one) => one.label.includes(label))!;
      show = (await press(button.data, { message: '99', ours: true })).show;
    }
    return show!;
  }
  return { press, open, judged, lines, counted };
}
const pageOne = `p:${Buffer.from(name, 'hex').toString('base64url')}:1`;

test('the list opens beside the message, and turns in place', async () => {
  const list = aList();
  const first = await list.press(pageOne);
  assert.deepEqual([first.inPlace, first.show?.cards.length, first.show?.silent], [false, 10, true]);
  const next = buttons(first.show!).find(({ label }) => label.startsWith('Next'))!;
  const second = await list.press(next.data, { message: '99', ours: true });
  assert.equal(second.inPlace, true);
  assert.match(second.show!.title!.text, /^11 to 20 of 25 incidents, page 2 of 3$/);
  assert.deepEqual(list.judged, []);
});

test('every one of them is on some page, with its number and a button', async () => {
  const list = aList();
  const seen = new Set<string>();
  for (const turns of [[], ['Next'], ['Next', 'Next']])
    for (const { label, data } of buttons(await list.open(turns))) {
      assert.ok(Buffer.byteLength(data) <= 64, data);
      if (/^\d+ Roll back$/.test(label)) seen.add(label);
    }
  assert.equal(seen.size, 25);
});

test('what is decided meanwhile moves nothing to another page', async () => {
  const before = (await aList().open(['Next'])).cards.map(({ headline }) => headline.split(' ')[0]);
  const decided = members.map((fix, n): Remediation =>
    n < 5 ? { ...fix, spec: { ...fix.spec, approval: approvedByAda } } : fix,
  );
  const posted = () => ({ notice, message: '7', members: decided });
  const after = (await aList({ posted }).open(['Next'])).cards.map(({ headline }) => headline.split(' ')[0]);
  assert.deepEqual(after, before);
});

test('a page that is not there any more is the nearest that is', async () => {
  const { show } = await aList().press(pageOne.replace(/1$/, '99'));
  assert.match(show!.title!.text, /page 3 of 3$/);
});

test('a press on a page is judged as on the message itself, and the page says how it went', async () => {
  const [fix] = members as [Remediation];
  const live = { ...fix, spec: { ...fix.spec, approval: approvedByAda } };
  const list = aList({ api: { get: (async () => live) as never } });
  const approve = buttons(await list.open()).find(({ label }) => label === '1 Roll back')!;
  const answer = await list.press(approve.data, { message: '99', ours: true });
  assert.deepEqual(
    list.judged.map(({ data, message }) => [data, message]),
    [[encodePress('a', fix), '7']],
  );
  assert.deepEqual([answer.say, answer.alert, answer.inPlace], ['Approved; it starts now.', false, true]);
  assert.match(answer.show!.cards[0]!.headline, /svc-1: about to roll back to 1\.41, approved by Ada/);
  assert.ok(!buttons(answer.show!).some(({ label }) => label === '1 Roll back'));
});

test('a cluster that does not answer keeps nobody waiting for the page', async () => {
  const clock = fakeClock(Date.parse(at('02:13:00')));
  const list = aList({ clock, api: { get: () => new Promise(() => undefined) } });
  const approve = buttons(await list.open()).find(({ label }) => label.includes('Roll back'))!;
  const answer = list.press(approve.data, { message: '99', ours: true });
  await clock.advance(1_000);
  assert.equal((await answer).show!.cards.length, 10);
});

const elsewhere: { name: string; press: Partial<Press> }[] = [
  { name: 'forwarded to another chat', press: { place: { chat: '-1' }, message: '99', ours: true } },
  { name: 'in another channel', press: { channel: 'slack', message: '99', ours: true } },
  { name: 'on a message that nobody vouches for', press: { message: '99' } },
];
for (const { name, press } of elsewhere) {
  test(`a page ${name} shows nothing`, async () => {
    const list = aList();
    const answer = await list.press(pageOne, press);
    assert.deepEqual([answer.alert, answer.show], [true, undefined]);
    assert.deepEqual(list.lines.length, 1);
    assert.deepEqual(list.counted, [`${press.channel ?? 'telegram'} UnknownMessage`]);
  });

  test(`a button of a page ${name} is judged where it was pressed`, async () => {
    const list = aList();
    const approve = buttons(await list.open()).find(({ label }) => label.includes('Roll back'))!;
    const answer = await list.press(approve.data, press);
    assert.deepEqual(
      list.judged.map(({ message, data }) => [message, data.length]),
      [[press.message, 30]],
    );
    assert.equal(answer.show, undefined);
  });
}

test('a Notice that is gone shows nothing', async () => {
  const list = aList({ posted: () => undefined });
  assert.equal((await list.press(pageOne)).alert, true);
});

test('any other button goes its usual way', async () => {
  const list = aList();
  const data = encodePress('a', members[0]!);
  assert.equal((await list.press(data)).show, undefined);
  assert.deepEqual(
    list.judged.map(({ data: own }) => own),
    [data],
  );
});

const onAll = `o:${Buffer.from(name, 'hex').toString('base64url')}`;

test('“I’m on it” is said of each of them, and answered after the first', async () => {
  const list = aList();
  const answer = await list.press(onAll);
  assert.deepEqual([answer.alert, answer.say], [false, 'You are on it: 25 incidents. Nobody is reminded any more.']);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(list.judged.map(({ data }) => data).sort(), members.map((fix) => encodePress('k', fix)).sort());
  assert.ok(list.judged.every(({ message }) => message === '7'));
});

test('it is said of nothing where the presser may not decide', async () => {
  const mixed = members.map((fix, n) => ({
    ...fix,
    metadata: { ...fix.metadata, namespace: n < 20 ? 'shop' : 'pay' },
  }));
  const tried: string[] = [];
  const onPress = async ({ data }: Press): Promise<Answer> => {
    const fix = mixed.find((one) => encodePress('k', one) === data)!;
    tried.push(fix.metadata.namespace);
    return fix.metadata.namespace === 'pay'
      ? { say: 'ok', alert: false }
      : { say: "You are not on the approvers' list for shop.", alert: true };
  };
  const list = aList({ posted: () => ({ notice, message: '7', members: mixed }), onPress });
  assert.match((await list.press(onAll)).say, /^You are on it: 5 incidents/);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(tried, ['shop', 'pay', 'pay', 'pay', 'pay', 'pay']);
});

test('a refusal for all of them is the answer', async () => {
  const refusal: Answer = { say: "You are not on the approvers' list.", alert: true };
  const list = aList({ onPress: async () => refusal });
  assert.deepEqual(await list.press(onAll), refusal);
});

test('of what is over nobody is on it: said, and written down', async () => {
  const over = members.map((fix, n) => aFix({ n: n + 1, name: fix.metadata.name, phase: 'Resolved' }));
  const list = aList({ posted: () => ({ notice, message: '7', members: over }) });
  assert.deepEqual(await list.press(onAll), { say: 'You are on it already, or it is over.', alert: true });
  assert.deepEqual(
    [list.lines.map(({ reason }) => reason), list.counted],
    [['AlreadyDecided'], ['telegram AlreadyDecided']],
  );
});

test('on a page or in another chat it is not known', async () => {
  for (const press of [{ message: '99', ours: true as const }, { place: { chat: '-1' } }]) {
    const list = aList();
    assert.equal((await list.press(onAll, press)).alert, true);
    assert.deepEqual(list.judged, []);
  }
});
