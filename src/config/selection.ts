import { matchesAny } from '../lib/glob.ts';
import { isAlwaysOut } from '../lib/namespaces.ts';
import type { Approver, Config } from './schema.ts';

/** Exclude wins. A namespace that is always out is selected only when named literally (and is then notify-only). */
export function isSelected({ namespaces }: Config, namespace: string, ownNamespace: string): boolean {
  if (matchesAny(namespaces.exclude, namespace)) return false;
  if (isAlwaysOut(namespace, ownNamespace)) return namespaces.include.includes(namespace);
  return matchesAny(namespaces.include, namespace);
}

/**
 * Whether incidents of this namespace are ours to record, to post and to act on. Our own namespace holds the incidents of
 * cluster-scoped objects.
 */
export const isWatched = (config: Config, namespace: string, ownNamespace: string): boolean =>
  namespace === ownNamespace || isSelected(config, namespace, ownNamespace);

/** "telegram:123456789"; undefined if this approver has no id there. */
export const chatIdOf = (approver: Approver, channel: 'telegram' | 'slack'): string | undefined =>
  approver[channel] === undefined ? undefined : `${channel}:${approver[channel]}`;

export const mayDecideIn = (approver: Approver, namespace: string): boolean =>
  approver.namespaces === undefined || matchesAny(approver.namespaces, namespace);

/**
 * Whether this configuration could have let that chat user decide in this namespace: it has a channel of that kind, and
 * lists them as an approver there.
 */
export const isApproverIn = ({ approval, channels }: Config, by: string, namespace: string): boolean =>
  (['telegram', 'slack'] as const).some(
    (channel) =>
      channels[channel] !== undefined &&
      approval.approvers.some((approver) => chatIdOf(approver, channel) === by && mayDecideIn(approver, namespace)),
  );
