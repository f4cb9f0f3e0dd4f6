import type { ChannelName } from '../../channels/channel.ts';
import type { Approver, Config } from '../../config/schema.ts';
import { chatIdOf, mayDecideIn } from '../../config/selection.ts';

const idIn = (approver: Approver, channel: ChannelName): string | undefined =>
  channel === 'console' || channel === 'webhook' ? undefined : chatIdOf(approver, channel);

/** The entries in the list of approvers for this person. The configuration allows one. */
export const entriesOf = (config: Config, channel: ChannelName, by: string): Approver[] =>
  config.approval.approvers.filter((approver) => idIn(approver, channel) === by);

/** Somebody who reads this channel may decide here. At the console that is whoever sits there. */
export const someoneMayApprove = (config: Config, channel: ChannelName, namespace: string): boolean =>
  channel === 'console' ||
  config.approval.approvers.some(
    (approver) => idIn(approver, channel) !== undefined && mayDecideIn(approver, namespace),
  );

const isId = (approver: Approver, by: string): boolean =>
  (['telegram', 'slack'] as const).some((channel) => idIn(approver, channel) === by);

/** Maps "telegram:123456789" to the name in the config. A Kubernetes user is already a name. */
export const nameOf = (config: Config, by: string): string =>
  config.approval.approvers.find((approver) => isId(approver, by))?.name ?? by;

/** True if one entry of the list has both ids. */
export const areOnePerson = (config: Config, a: string, b: string): boolean =>
  config.approval.approvers.some((approver) => isId(approver, a) && isId(approver, b));
