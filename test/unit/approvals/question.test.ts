import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../../src/channels/channel.ts';
import type { Notice } from '../../../src/kube/notice.ts';
import { contextFor } from '../../../src/notices/outbox/notice-body.ts';
import { renderingOf } from '../../../src/notices/outbox/rendering.ts';
import { encodePress, type Verb } from '../../../src/notices/payload.ts';
import { aConfig, aNoticeOf, aQuotaFix } from '../../support/fixes.ts';
import { aBooth } from './booth.ts';

/* "Really?" is asked on the message that was pressed, and of who pressed it. */

const approvers = [
  { name: 'Ada', telegram: 123456789, slack: 'U0ADA', kubernetesGroups: [] },
  { name: 'Ben', telegram: 222, slack: 'U0BEN', kubernetesGroups: [] },
];
const [ada, ben] = [
  { telegram: 'telegram:123456789', slack: 'slack:U0ADA' },
  { telegram: 'telegram:222', slack: 'slack:U0BEN' },
] as const;
type Vendor = 'telegram' | 'slack';

/** The same fix on a card in Telegram and on one in Slack, and a reminder of it that was there before. */
function twoCards() {
  const fix = aQuotaFix();
  const base = aConfig().approval;
  const channels = { telegram: { chat: 'telegram', routes: [], apiRoot: '' }, slack: { channel: 'slack', routes: [], apiUrl: '' } }; // prettier-ignore
  const config = aConfig({ approval: { ...base, approvers }, channels });
  const card = (name: string, channel: Vendor, form: Notice['spec']['form'] = 'card'): Notice => {
    const notice = aNoticeOf([fix], { channel, chat: channel, form }, { message: name });
    return { ...notice, metadata: { ...notice.metadata, name } };
  };
  const cards = { telegram: card('one', 'telegram'), slack: card('two', 'slack') };
  const all = [card('reminder', 'telegram', 'reminder'), ...Object.values(cards)];
  const booth = aBooth(fix, {
    current: () => config,
    noticeAt: (channel, { chat }, message) =>
      all.find(({ spec, status }) => spec.channel === channel && spec.chat === chat && status?.message === message),
    noticesWith: () => all,
  });
  const press = (verb: Verb, channel: Vendor, by: typeof ada | typeof ben, message?: string): Promise<Answer> =>
    booth.approvals.onPress({
      channel,
      by: by[channel],
      name: 'x',
      place: { chat: channel },
      message: message ?? cards[channel].status!.message!,
      data: encodePress(verb, fix),
      ours: true,
    });
  const shown = (channel: Vendor): string => {
    const facts = { config, nowMs: booth.clock.now(), timeZone: 'UTC', confirms: booth.confirms, namespace: 'tapfix' };
    const { wanted, message } = renderingOf(cards[channel], { members: [fix] }, contextFor(cards[channel], facts));
    const labels = message()
      .cards[0]!.buttons.flat()
      .map(({ label }) => label);
    return `${wanted.shown} ${labels.join()}`;
  };
  return { ...booth, press, shown };
}

for (const [from, message] of [['the card'], ['what an answer showed', '9999']])
  test(`only the message that was pressed asks: ${from}`, async () => {
    const booth = twoCards();
    const before = booth.shown('slack');
    assert.match(before, /Approve deletion/);
    assert.match((await booth.press('a', 'telegram', ada, message)).say, /^Really delete/);
    assert.match(booth.shown('telegram'), /Yes, delete/);
    assert.equal(booth.shown('slack'), before);
  });

test('who is asked in one chat and presses in another reads where', async () => {
  const booth = twoCards();
  await booth.press('a', 'telegram', ada);
  const say = 'You are being asked about this in Telegram right now; answer there.';
  assert.deepEqual(await booth.press('a', 'slack', ada), { say, alert: true });
  assert.equal(booth.audit.at(-1)?.['reason'], 'AskedElsewhere');
  assert.equal((await booth.press('a', 'slack', ben)).say, 'Ada is being asked about this right now.');
  assert.equal(booth.approval().state, 'Pending');
  assert.equal((await booth.press('c', 'telegram', ada)).say, 'Approved; it starts now.');
});

test('and the other way round', async () => {
  const booth = twoCards();
  await booth.press('a', 'slack', ada);
  assert.match((await booth.press('a', 'telegram', ada)).say, /^You are being asked about this in Slack right now/);
});
