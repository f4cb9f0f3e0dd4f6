import type { Config } from '../../config/schema.ts';
import type { Member, Notice, NoticeSpec } from '../../kube/notice.ts';
import type { Remediation } from '../../kube/remediation.ts';
import { apiVersionOf } from '../../kube/resources.ts';
import { hashOf } from '../../lib/hash.ts';
import type { MessageContext, Questions } from '../cards/card-context.ts';
import { nameOf, someoneMayApprove } from '../cards/people.ts';
import type { Address } from '../plan/route.ts';
import { whyUnwatched } from '../plan/unwatched.ts';

/**
 * The same message has the same name, so a crash between "created" and "remembered" makes no duplicate. `of` is the uid
 * of its first member, or its subject.
 */
export const nameOfNotice = ({ channel, chat, thread }: Address, form: NoticeSpec['form'], of: string): string =>
  hashOf([channel, chat, thread ?? '', form, of], 32);

export const memberOf = ({ metadata }: Remediation): Member => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  uid: metadata.uid,
});

/** As many as the resource can hold. The others go into the next message. */
export const mostMembers = 1000;

export function noticeBody(
  name: string,
  namespace: string,
  { address, form, members }: { address: Address; form: NoticeSpec['form']; members: Remediation[] },
  annotations?: Record<string, string>,
): object {
  const spec: NoticeSpec = {
    channel: address.channel,
    chat: address.chat,
    ...(address.thread !== undefined && { thread: address.thread }),
    members: members.slice(0, mostMembers).map(memberOf),
    form,
  };
  return {
    apiVersion: apiVersionOf('Notice'),
    kind: 'Notice',
    metadata: { name, namespace, ...(annotations && { annotations }) },
    spec,
  };
}

interface ContextFacts {
  config: Config;
  nowMs: number;
  timeZone: string;
  confirms: Questions;
  /** tapfix's own namespace. */
  namespace: string;
}

/** Everything that the cards of this message depend on besides their Remediations: the current configuration. */
export function contextFor(
  { metadata, spec: { channel } }: { metadata?: Pick<Notice['metadata'], 'name'>; spec: Pick<NoticeSpec, 'channel'> },
  { config, nowMs, timeZone, confirms, namespace }: ContextFacts,
): MessageContext {
  return {
    ...(metadata && { notice: metadata.name }),
    cluster: config.cluster,
    nowMs,
    timeZone,
    confirm: config.approval.confirm,
    nameOf: (by) => nameOf(config, by),
    approvable: (fix) => someoneMayApprove(config, channel, fix.metadata.namespace ?? ''),
    allowed: (fix) => config.actions.allow.includes(fix.spec.action?.type ?? ''),
    whyUnwatched: (fix) => whyUnwatched(fix, channel, config, namespace),
    confirming: (fix) => {
      const question = confirms.armedFor(fix.metadata.uid, nowMs);
      return question && !question.isApart && question.notice === metadata?.name ? question : undefined;
    },
  };
}
