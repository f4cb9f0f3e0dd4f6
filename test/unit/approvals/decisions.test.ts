import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Press } from '../../../src/channels/channel.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import type { Verb } from '../../../src/notices/payload.ts';
import { encodePress } from '../../../src/notices/payload.ts';
import { aConfig, aFix, aNoticeOf, condition } from '../../support/fixes.ts';
import { aBooth } from './booth.ts';

/* Each way in which a press can come to nothing, the same for both vendors: one sentence to the presser, one audit line. */

const people = {
  telegram: { ada: 'telegram:123456789', ben: 'telegram:222', cleo: 'telegram:333', eve: 'telegram:666', chat: '-100500' },
  slack: { ada: 'slack:U0ADA', ben: 'slack:U0BEN', cleo: 'slack:U0CLEO', eve: 'slack:U0EVE', chat: 'C0123456789' },
} as const; // prettier-ignore
type Vendor = keyof typeof people;
type Who = 'ada' | 'ben' | 'cleo' | 'eve';

const approvers = [
  { name: 'Ada', telegram: 123456789, slack: 'U0ADA', kubernetesGroups: [] },
  { name: 'Ben', telegram: 222, slack: 'U0BEN', kubernetesGroups: [] },
  { name: 'Cleo', telegram: 333, slack: 'U0CLEO', namespaces: ['payments'], kubernetesGroups: [] },
];

function aTeam(vendor: Vendor, fix: Remediation = aFix()) {
  const { chat, ...ids } = people[vendor];
  const approval = { ...aConfig().approval, approvers: [...approvers] };
  const card = aNoticeOf([fix], { channel: vendor, chat }, { message: '1.1' });
  const booth = aBooth(fix, {
    current: () => aConfig({ approval }),
    noticeAt: (channel, place, message) =>
      channel === vendor && place.chat === chat && message === '1.1' ? card : undefined,
    noticesWith: () => [card],
  });
  const tap = (who: Who, verb: Verb = 'a', over: Partial<Press> = {}) =>
    booth.approvals.onPress({
      channel: vendor,
      by: ids[who],
      name: who,
      place: { chat },
      message: '1.1',
      data: encodePress(verb, fix),
      ...over,
    });
  return { ...booth, tap, approval: booth.approval, approvers: approval.approvers };
}
type Team = ReturnType<typeof aTeam>;

interface Row {
  name: string;
  fix?: Remediation;
  press(team: Team): Promise<{ say: string; alert: boolean }>;
  say: string;
  reason: string;
}

const rows: Row[] = [
  {
    name: 'a double press',
    press: async (team) => (await team.tap('ada'), team.tap('ada')),
    say: 'You approved this 0 s ago.',
    reason: 'AlreadyDecided',
  },
  {
    name: 'two people at once',
    press: async (team) => (await Promise.all([team.tap('ada'), team.tap('ben')]))[1],
    say: 'Ada approved this 0 s ago.',
    reason: 'AlreadyDecided',
  },
  {
    name: 'one rejected it before',
    press: async (team) => (await team.tap('ben', 'r'), team.tap('ada')),
    say: 'Ben rejected this 0 s ago.',
    reason: 'AlreadyDecided',
  },
  {
    name: 'it has expired, though the controller has not said so yet',
    press: async (team) => (await team.clock.advance(30 * 60_000), team.tap('ada')),
    say: 'This expired at 03:42; nothing was changed.',
    reason: 'TooLate',
  },
  {
    name: 'made while tapfix was down, and handled too late',
    fix: aFix({ phase: 'Expired', conditions: [condition('Expired', '02:42:35')] }),
    press: (team) => team.tap('ada'),
    say: 'This expired at 03:42; nothing was changed.',
    reason: 'TooLate',
  },
  {
    name: 'the preview has changed',
    press(team) {
      const { preview } = team.live().status!;
      team.change({ ...team.live(), status: { ...team.live().status, preview: { ...preview!, diff: 'another' } } });
      return team.tap('ada');
    },
    say: 'The Deployment has changed since this was shown; nothing was done. A new proposal follows.',
    reason: 'NotAsShown',
  },
  {
    name: 'the live target has changed',
    press: (team) => ((team.target.prepared = { ok: true, targetHash: 'other' } as never), team.tap('ada')),
    say: 'The Deployment has changed since this was shown; nothing was done. A new proposal follows.',
    reason: 'NotAsShown',
  },
  {
    name: 'on a message that was forwarded within the chat',
    press: (team) => team.tap('ada', 'a', { message: '9.9' }),
    say: 'tapfix does not know this message here; nothing was done.',
    reason: 'UnknownMessage',
  },
  {
    name: 'in another chat, though tapfix wrote there',
    press: (team) => team.tap('ada', 'a', { place: { chat: 'elsewhere' }, message: '9.9', ours: true }),
    say: 'tapfix does not know this message here; nothing was done.',
    reason: 'UnknownMessage',
  },
  {
    name: 'an unknown person',
    press: (team) => team.tap('eve'),
    say: "You are not on the approvers' list.",
    reason: 'NotAnApprover',
  },
  {
    name: 'an approver of another namespace',
    press: (team) => team.tap('cleo'),
    say: "You are not on the approvers' list for shop.",
    reason: 'NotAllowedHere',
  },
  {
    name: 'an approver whom a reload removed after the card was shown',
    press: (team) => (team.approvers.splice(0, 1), team.tap('ada')),
    say: "You are not on the approvers' list.",
    reason: 'NotAnApprover',
  },
  {
    name: 'a button that is none of ours',
    press: (team) => team.tap('ada', 'a', { data: 'vote:1' }),
    say: 'tapfix does not know this button; nothing was done.',
    reason: 'Unreadable',
  },
];

for (const vendor of ['telegram', 'slack'] as const)
  for (const { name, fix, press, say, reason } of rows)
    test(`${vendor}: ${name}`, async () => {
      const team = aTeam(vendor, fix);
      assert.deepEqual(await press(team), { say, alert: true });
      const refused = team.audit.filter(({ decision }) => decision === 'Refused');
      assert.deepEqual(
        refused.map((line) => [line['audit'], line['channel'], line['reason']]),
        [[true, vendor, reason]],
      );
    });

for (const vendor of ['telegram', 'slack'] as const) {
  test(`${vendor}: made while tapfix was down, and in time, it counts`, async () => {
    const team = aTeam(vendor);
    await team.clock.advance(20 * 60_000);
    assert.equal((await team.tap('ada')).alert, false);
    assert.deepEqual([team.approval().by, team.approval().via], [people[vendor].ada, vendor]);
  });

  test(`${vendor}: whoever a reload adds may decide on what was shown before`, async () => {
    const team = aTeam(vendor);
    team.approvers.push({ name: 'Eve', telegram: 666, slack: 'U0EVE', kubernetesGroups: [] });
    assert.equal((await team.tap('eve')).alert, false);
  });
}
