import type { EventView } from '../kube/views.ts';
import type { Signal } from './signal.ts';

/** The quota's name in "... is forbidden: exceeded quota: NAME, requested: ...", however the controller worded the rest. */
export function quotaIn(message: string): string | undefined {
  return /exceeded quota: ([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?:,|$)/.exec(message)?.[1];
}

type Rule = (event: EventView) => { class: string; cause?: Signal['cause'] } | undefined;

const podsRefusedByQuota: Rule = ({ type, reason, message }) => {
  const quota = type === 'Warning' && reason === 'FailedCreate' ? quotaIn(message) : undefined;
  return quota ? { class: 'QuotaExceeded', cause: { kind: 'ResourceQuota', name: quota } } : undefined;
};

/** kubelet also says BackOff of images that cannot be pulled: the words tell them apart. */
const containerRestartsInALoop: Rule = ({ type, reason, message, object }) =>
  type === 'Warning' && reason === 'BackOff' && object.kind === 'Pod' && /restarting failed container/i.test(message)
    ? { class: 'CrashLoop' }
    : undefined;

const rules: readonly Rule[] = [podsRefusedByQuota, containerRestartsInALoop];

/** Pure. undefined: not a failure that tapfix knows; unknown reasons are never guessed. */
export function detectEvent(event: EventView): Signal | undefined {
  for (const rule of rules) {
    const found = rule(event);
    if (!found) continue;
    const { kind, name, uid, namespace } = event.object;
    return { ...found, namespace, object: { kind, name, uid }, reason: event.reason, message: event.message };
  }
  return undefined;
}
