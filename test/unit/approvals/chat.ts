import { createCommands } from '../../../src/approvals/commands.ts';
import type { Answer, Command, Press } from '../../../src/channels/channel.ts';
import type { Mute } from '../../../src/kube/mutes.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { contextFor } from '../../../src/notices/outbox/notice-body.ts';
import { stateHash } from '../../../src/notices/outbox/rendering.ts';
import type { Address } from '../../../src/notices/plan/route.ts';
import { aConfig, aFix, aNoticeOf, at } from '../../support/fixes.ts';
import { aBooth } from './booth.ts';

const vendors = {
  telegram: { chat: '-100500', ada: 'telegram:123456789', ben: 'telegram:222', cleo: 'telegram:333', fay: 'telegram:555', stranger: 'telegram:666' },
  slack: { chat: 'C0123456789', ada: 'slack:U0ADA', ben: 'slack:U0BEN', cleo: 'slack:U0CLEO', fay: 'slack:U0FAY', stranger: 'slack:U0EVE' },
} as const; // prettier-ignore
export type Vendor = keyof typeof vendors;

const approvers = [
  { name: 'Ada', telegram: 123456789, slack: 'U0ADA', kubernetesGroups: [] },
  { name: 'Ben', telegram: 222, slack: 'U0BEN', namespaces: ['shop*'], kubernetesGroups: [] },
  { name: 'Cleo', telegram: 333, slack: 'U0CLEO', namespaces: ['payments'], kubernetesGroups: [] },
  { name: 'Fay', telegram: 555, slack: 'U0FAY', namespaces: ['*'], kubernetesGroups: [] },
];

/**
 * A chat of that vendor in which one card is, or several (4711, 4712...), and everything that is written there. Only the
 * first Remediation is on the server: whoever takes another one for it reads that it is gone.
 */
export function aChat(
  vendor: Vendor,
  fixes: Remediation[] = [aFix()],
  more: { told?: Remediation[]; cards?: Remediation[][] } = {},
) {
  const { told = fixes, cards = [told] } = more;
  const { chat } = vendors[vendor];
  const base = aConfig();
  const config = aConfig({
    approval: { ...base.approval, approvers },
    channels: {
      telegram: { chat: vendors.telegram.chat, routes: [], apiRoot: '' },
      slack: { channel: vendors.slack.chat, routes: [], apiUrl: '' },
    },
  });
  const mutes: Mute[] = [];
  const tests: Address[] = [];
  const notices = cards.map((members, index) =>
    aNoticeOf(members, { channel: vendor, chat }, { message: String(4711 + index), postedAt: at('02:12:41') }),
  );
  const card = notices[0]!;
  const noticeAt = (_: unknown, place: Press['place'], message: string) =>
    notices.find(({ status }) => place.chat === chat && status?.message === message);
  const noticesWith = (uid: string) => notices.filter(({ spec }) => spec.members.some((member) => member.uid === uid));
  const fixByUid = (uid: string) => fixes.find(({ metadata }) => metadata.uid === uid);
  const booth = aBooth(fixes[0], { current: () => config, noticeAt, noticesWith, fixByUid });
  const shownNow = (): string =>
    stateHash(
      cards[0]!,
      contextFor(card, {
        config,
        nowMs: booth.clock.now(),
        timeZone: 'Europe/Berlin',
        confirms: booth.confirms,
        namespace: 'tapfix',
      }),
    );
  card.status!.shown = shownNow();
  const { onCommand } = createCommands({
    ...booth.approvals,
    clock: booth.clock,
    current: () => config,
    timeZone: 'Europe/Berlin',
    ownNamespace: 'tapfix',
    confirms: booth.confirms,
    fixes: () => fixes,
    noticeAt,
    noticesWith,
    mutes: { active: () => mutes, set: async (mute) => void mutes.push(mute) },
    tests: { post: async (address) => tests.push(address) === 1 },
    subjectAccess: async () => true,
    status: () => ['channel-telegram: receiving'],
  });
  let written = 0;
  const write = (text: string, over: Partial<Command> = {}): Promise<Answer> => {
    const id = String(++written);
    return onCommand({ channel: vendor, by: vendors[vendor].ada, name: 'x', place: { chat }, id, text, ...over });
  };
  const reply = (text: string, over: Partial<Command> = {}) => write(text, { replyTo: '4711', ...over });
  return { ...booth, config, onCommand, card, notices, mutes, tests, write, reply, shownNow, who: vendors[vendor] };
}
