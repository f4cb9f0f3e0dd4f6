import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Prepared } from '../../../src/actions/action.ts';
import { createPages } from '../../../src/approvals/pages.ts';
import { wasWholeDiffShown } from '../../../src/approvals/rules.ts';
import type { Answer, Press } from '../../../src/channels/channel.ts';
import type { NoticeSpec } from '../../../src/kube/notice.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import type { Message } from '../../../src/notices/cards/message.ts';
import { encodePress, onPage, type Verb } from '../../../src/notices/payload.ts';
import { aFix, at, uidOf } from '../../support/fixes.ts';
import { aChat, type Vendor } from './chat.ts';

/* What cannot be seen cannot be approved. */

const first = aFix({ n: 1, name: 'checkout' });
const second = aFix({ n: 2, name: 'web', incident: { firstSeen: at('02:12:10') } });
const notice = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const labels = ({ cards, buttons = [] }: Message) =>
  [...cards, { buttons }].flatMap((card) => card.buttons.flat().map(({ label }) => label));
const buttonIn = ({ cards }: Message, label: RegExp) =>
  cards.flatMap((card) => card.buttons.flat()).find((one) => label.test(one.label))!;
const hasDiff = ({ show }: Answer): boolean =>
  JSON.stringify(show ?? {}).includes('shop/checkout:1.42 → shop/checkout:1.41');

/** Both stand in one message, and `second`, which is on the server, has one line of it. */
function aGroup(vendor: Vendor, { form = 'card' as NoticeSpec['form'], fix = second } = {}) {
  const members = [first, fix];
  const chat = aChat(vendor, [fix, first], { cards: [members] });
  chat.card.metadata = { ...chat.card.metadata, name: notice };
  chat.card.spec.form = form;
  chat.card.status!.shown = chat.shownNow();
  const pages = createPages({
    api: { get: async () => structuredClone(chat.live()) as never },
    clock: chat.clock,
    audit: chat.approvals.audit,
    current: () => chat.config,
    timeZone: 'Europe/Berlin',
    ownNamespace: 'tapfix',
    confirms: chat.confirms,
    tests: { press: async () => false },
    posted: (name) => (name === notice ? { notice: chat.card, message: '4711', members } : undefined),
    onPress: chat.approvals.onPress,
  });
  const press = (data: string, over: Partial<Press> = {}): Promise<Answer> =>
    pages({
      channel: vendor,
      by: chat.who.ada,
      name: 'x',
      place: { chat: chat.card.spec.chat },
      message: '4711',
      ours: true,
      data,
      ...over,
    });
  return { ...chat, press };
}
type Group = ReturnType<typeof aGroup>;

const onAnswer = { message: '9999' };
const data = (verb: Verb, fix: Remediation = second): string => encodePress(verb, fix);
const ref = { notice, page: 1 };

/** Every way to Approve beside less than the whole diff: what it answers with, and where the yes then is. */
const ways: { name: string; form?: NoticeSpec['form']; ask(group: Group): Promise<Answer>; over: Partial<Press> }[] = [
  { name: 'the second member of a message', ask: ({ press }) => press(data('a')), over: onAnswer },
  {
    name: 'a member on a page of a storm',
    form: 'storm',
    ask: ({ press }) => press(onPage({ label: '', data: data('a') }, ref).data, onAnswer),
    over: onAnswer,
  },
  { name: '/approve of a storm’s member', form: 'storm', ask: ({ write }) => write('approve web'), over: onAnswer },
  { name: '/approve of a card’s member', ask: ({ write }) => write('approve web'), over: onAnswer },
  { name: 'what /show or /open showed', ask: ({ press }) => press(data('a'), onAnswer), over: onAnswer },
];

for (const vendor of ['telegram', 'slack'] as const)
  for (const { name, form, ask, over } of ways)
    describe(`${vendor}: ${name}`, () => {
      const asked = async () => {
        const group = aGroup(vendor, form ? { form } : {});
        const answer = await ask(group);
        assert.equal(group.approval().state, 'Pending');
        return { ...group, answer, yes: buttonIn(answer.show!, /^Yes, /).data };
      };

      test('the whole diff comes first, and a yes beside it counts', async () => {
        const { answer, press, yes, approval } = await asked();
        assert.ok(hasDiff(answer));
        assert.equal(labels(answer.show!).length, 2, 'yes and back');
        const said = await press(yes, over);
        assert.equal(said.say, 'Approved; it starts now.');
        assert.deepEqual([said.inPlace, labels(said.show!).some((label) => label.startsWith('Yes'))], [true, false]);
        assert.equal(approval().state, 'Approved');
      });

      test('a yes of somebody else does not', async () => {
        const { press, yes, who, approval } = await asked();
        const { say, show } = await press(yes, { ...over, by: who.ben });
        assert.equal(say, 'Ada is being asked about this right now.');
        assert.equal(show, undefined, 'nor does it take the question away');
        assert.equal(approval().state, 'Pending');
      });

      test('nor one after 30 s', async () => {
        const { press, yes, clock, approval } = await asked();
        await clock.advance(30_000);
        const { say, show } = await press(yes, over);
        assert.match(say, /^The 30 s to say yes are over; nothing was done/);
        assert.ok(
          labels(show!).every((label) => !label.startsWith('Yes')),
          'its buttons do nothing any more',
        );
        assert.equal(approval().state, 'Pending');
      });

      test('nor one after the target, or what would be done to it, has changed', async () => {
        for (const change of [
          ({ target }: Group) => void (target.prepared = { ok: true, targetHash: 'other' } as Prepared),
          ({ change, live }: Group) => {
            const { status } = live();
            change({ ...live(), status: { ...status, preview: { ...status!.preview!, diff: 'another' } } });
          },
        ]) {
          const group = await asked();
          change(group);
          assert.match((await group.press(group.yes, over)).say, /^web has changed since this card was posted/);
          assert.equal(group.approval().state, 'Pending');
        }
      });

      test('Back takes the question away', async () => {
        const { answer, press, approval, yes } = await asked();
        const back = await press(buttonIn(answer.show!, /^Back$/).data, over);
        assert.deepEqual([back.say, back.inPlace], ['Nothing was done.', true]);
        assert.match((await press(yes, over)).say, /^The 30 s to say yes are over/);
        assert.equal(approval().state, 'Pending');
      });

      test('what could not be shown was not asked', async () => {
        const { answer, press, yes, write, approval } = await asked();
        answer.onUnseen!();
        assert.match((await press(yes, over)).say, /^The 30 s to say yes are over/);
        assert.match((await write('approve web')).say, /^Really/);
        assert.equal(approval().state, 'Pending');
      });
    });

test('a card about one alone shows its diff, and is approved with one tap', async () => {
  const chat = aChat('telegram', [second]);
  const { say, show } = await chat.press('a', 123456789, { data: data('a') });
  assert.deepEqual([say, show], ['Approved; it starts now.', undefined]);
});

test('the same on the console, whose user is asked', async () => {
  const { card, press, approval } = aGroup('telegram');
  card.spec.channel = 'console';
  const user = { channel: 'console', by: 'kubernetes-admin' } as const;
  const answer = await press(data('a'), user);
  assert.ok(hasDiff(answer));
  assert.equal(approval().state, 'Pending');
  const yes = buttonIn(answer.show!, /^Yes, /).data;
  assert.equal((await press(yes, { ...user, message: 'shown' })).say, 'Approved; it starts now.');
});

test('a diff that no message has room for is not approved in a chat', async () => {
  const long = aFix({
    n: 2,
    name: 'web',
    status: { preview: { diff: 'x'.repeat(4_000), targetHash: 'abc', at: at('02:12:36') } },
  });
  const chat = aChat('telegram', [long]);
  assert.match(
    (await chat.press('a', 123456789, { data: data('a', long) })).say,
    /too long to be shown here, so it is not approved here/,
  );
  assert.equal(chat.approval().state, 'Pending');
});

test('a diff that the card has no room for is shown alone', async () => {
  const lines = Array.from({ length: 60 }, (_, n) => `env VARIABLE_${n}  (hidden) → (hidden), changed`).join('\n');
  const long = aFix({ n: 2, name: 'web', status: { preview: { diff: lines, targetHash: 'abc', at: at('02:12:36') } } });
  const chat = aChat('telegram', [long]);
  const { show } = await chat.press('a', 123456789, { data: data('a', long) });
  assert.deepEqual(
    show!.cards[0]!.rows.map(({ label }) => label),
    ['Change'],
  );
  const shown = show!.cards[0]!.rows[0]!.lines.flatMap((line) =>
    typeof line === 'object' && 'code' in line ? [line.code] : [],
  );
  assert.equal(shown.join('\n'), lines);
  assert.ok(shown.every((piece) => piece.length <= 1_800));
});

const follows = { name: first.metadata.name, uid: uidOf(1) };
const successor = { ...second, spec: { ...second.spec, incident: first.spec.incident, follows } };
const facts = { members: [second], form: 'card', isOnNotice: true, isDiffOnCard: true } as const;
const rows: { name: string; over: object; want: boolean }[] = [
  { name: 'the only one of its card', over: {}, want: true },
  { name: 'the only one that was found at start', over: { form: 'boot' }, want: true },
  { name: 'the successor of the only one', over: { members: [first, successor] }, want: true },
  { name: 'one of two', over: { members: [second, first] }, want: false },
  { name: 'a storm', over: { form: 'storm' }, want: false },
  { name: 'a reminder', over: { form: 'reminder' }, want: false },
  { name: 'a page, an answer or a command', over: { isOnNotice: false }, want: false },
  { name: 'a diff that does not fit its card', over: { isDiffOnCard: false }, want: false },
];
for (const { name, over, want } of rows)
  test(`${want ? 'seen' : 'not seen'}: ${name}`, () => assert.equal(wasWholeDiffShown({ ...facts, ...over }), want));
