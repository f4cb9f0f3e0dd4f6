import type { Config } from '../config/schema.ts';
import type { Member, Notice, NoticeSpec } from '../kube/notice.ts';
import type { Remediation } from '../kube/remediation.ts';
import { apiVersionOf } from '../kube/resources.ts';
import { hashOf } from '../lib/hash.ts';
import type { MessageContext, Questions } from './context.ts';
import { nameOf, someoneMayApprove } from './people.ts';
import type { Address } from './route.ts';

/** The same message has the same name: a crash between "created" and "remembered" makes no twin. */
export const nameOfNotice = ({ channel, chat, thread }: Address, form: NoticeSpec['form'], firstUid: string): string =>
  hashOf([channel, chat, thread ?? '', form, firstUid], 32);

export const memberOf = ({ metadata }: Remediation): Member => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  uid: metadata.uid,
});

/** As many as the resource holds; the others go into the next message. */
export const mostMembers = 1000;

export function noticeBody(
  name: string,
  namespace: string,
  { address, members }: { address: Address; members: Remediation[] },
): object {
  const spec: NoticeSpec = {
    channel: address.channel,
    chat: address.chat,
    ...(address.thread !== undefined && { thread: address.thread }),
    members: members.slice(0, mostMembers).map(memberOf),
    form: 'card',
  };
  return { apiVersion: apiVersionOf('Notice'), kind: 'Notice', metadata: { name, namespace }, spec };
}

export interface ContextFacts {
  config: Config;
  nowMs: number;
  timeZone: string;
  confirms: Questions;
}

/** What the cards of this message depend on besides their Remediations: the configuration now in force. */
export function contextFor(notice: Notice, { config, nowMs, timeZone, confirms }: ContextFacts): MessageContext {
  return {
    cluster: config.cluster,
    nowMs,
    timeZone,
    confirm: config.approval.confirm,
    nameOf: (by) => nameOf(config, by),
    approvable: (fix) => someoneMayApprove(config, notice.spec.channel, fix.metadata.namespace ?? ''),
    allowed: (fix) => config.actions.allow.includes(fix.spec.action?.type ?? ''),
    confirming: (fix) => confirms.armedFor(fix.metadata.uid, nowMs),
  };
}
