import type { ChannelName } from '../../channels/channel.ts';
import type { Config } from '../../config/schema.ts';
import { isWatched } from '../../config/selection.ts';
import type { NoticeSpec } from '../../kube/notice.ts';
import { type Remediation, withCondition } from '../../kube/remediation.ts';
import type { MessageContext } from '../cards/card-context.ts';
import { isOverInChat, needsSomebody, unwatchedReason, shownPhase } from '../cards/head.ts';
import { type Address, addressesOf, samePlace } from './route.ts';

/**
 * Pure. Whether news of it belongs in this place by this configuration. A reminder stays with its card, whatever the
 * routes are by now, and an escalation has a place of its own.
 */
export const isPostedAt = (
  fix: Remediation,
  place: Address & Pick<NoticeSpec, 'form'>,
  config: Config,
  own: string,
): boolean =>
  isWatched(config, fix.metadata.namespace ?? '', own) &&
  (place.form === 'reminder' ||
    place.form === 'escalation' ||
    addressesOf(config, fix.metadata.namespace ?? '').some((address) => samePlace(address, place)));

/**
 * Pure. Why a card gets no more news, as text; undefined if it does. A fix that is under way is shown until its end.
 */
export function whyUnwatched(fix: Remediation, channel: ChannelName, config: Config, own: string): string | undefined {
  const { namespace = '', name } = fix.metadata;
  const isOpen = needsSomebody(fix) && shownPhase(fix) !== 'Failed';
  if (channel !== 'webhook' && config.channels[channel] === undefined)
    return isOpen || !isOverInChat(fix)
      ? `tapfix no longer writes here; kubectl -n ${namespace} get fix ${name} shows the rest`
      : undefined;
  return isOpen && !isWatched(config, namespace, own)
    ? `${namespace} is no longer watched, nothing was changed`
    : undefined;
}

/** Pure. The members as they are shown: unwatched ones say so. */
export const asShown = (members: readonly Remediation[], { whyUnwatched: whyOf }: MessageContext): Remediation[] =>
  members.map((fix) => {
    const why = whyOf?.(fix);
    return why === undefined ? fix : asUnwatched(fix, why);
  });

/** Pure. On its card it is over: nothing can be pressed or counted, and nobody is asked. */
function asUnwatched(fix: Remediation, why: string): Remediation {
  const over = { status: 'True', reason: unwatchedReason, message: why, lastTransitionTime: '' } as const;
  const conditions = withCondition(withCondition(fix.status?.conditions, { ...over, type: 'Resolved' }), {
    ...over,
    type: 'IncidentCleared',
  });
  return { ...fix, status: { ...fix.status, phase: 'Resolved', conditions } };
}
