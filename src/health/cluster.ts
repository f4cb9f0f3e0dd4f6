import type { AutoscalerView, ClaimView, EventView, NodeView, StorageClassView } from '../kube/views.ts';
import { missingStorageClassIn } from './event-words.ts';
import type { Trouble } from './trouble.ts';

/**
 * Pure. Ready is False when the node's kubelet reports it, Unknown when nobody has heard from it. A node that never
 * reported is only new.
 */
export function nodeTroubles({ ready, deleting }: NodeView): Trouble[] {
  if (deleting || !ready || ready.status === 'True') return [];
  return [{ class: 'NodeDown', reason: ready.reason || 'NodeNotReady', message: ready.message }];
}

/**
 * Pure. Without metrics, or without a target, it cannot scale. One whose target was scaled to zero is off, not blind.
 */
export function autoscalerTroubles({ deleting, ableToScale, scalingActive }: AutoscalerView): Trouble[] {
  if (deleting) return [];
  const isBlind = scalingActive?.status === 'False' && scalingActive.reason !== 'ScalingDisabled';
  const cannot = ableToScale?.status === 'False' && !ableToScale.reason.startsWith('Backoff');
  const why = isBlind ? scalingActive : cannot ? ableToScale : undefined;
  return why ? [{ class: 'AutoscalerBlind', reason: why.reason, message: why.message }] : [];
}

/** A StorageClass: it exists, is missing, or may not be read. */
export type KnownClass = StorageClassView | 'missing' | 'unknown';

const failures: ReadonlySet<string> = new Set(['ProvisioningFailed', 'FailedBinding', 'VolumeMismatch', 'ClaimMisbound']); // prettier-ignore

const progress: ReadonlySet<string> = new Set(['WaitForFirstConsumer', 'WaitForPodScheduled', 'ProvisioningSucceeded']); // prettier-ignore

/** Its volume was lost, or no volume will ever be created for it. */
const lost = (message: string): Trouble => ({ class: 'StorageFailed', reason: 'ClaimLost', message });

/**
 * Pure. The troubles of a claim, from its status, its class and its own events (newest first). If a claim's class does
 * not exist, the class is to blame. A claim that waits for its first consumer is healthy. If the class may not be read,
 * the claim's newest event must say that it is missing.
 */
export function claimTroubles(claim: ClaimView, known: KnownClass, events: readonly EventView[] = []): Trouble[] {
  const { phase, deleting, storageClass, createdAtMs: sinceMs } = claim;
  if (deleting) return [];
  if (phase === 'Lost') return [lost('the volume it was bound to is gone')];
  if (phase !== 'Pending') return [];
  // "Still waits for its provisioner" is reported all the time, whatever the provisioner reports, so it is in neither
  // set.
  const newest = events.find(({ reason }) => failures.has(reason) || progress.has(reason));
  const missing = missingClass(storageClass, known, newest);
  const said = newest && failures.has(newest.reason) ? newest : undefined;
  if (missing !== undefined) {
    const message = said?.message ?? `StorageClass ${missing} does not exist`;
    return [
      { class: 'StorageFailed', cause: { kind: 'StorageClass', name: missing }, reason: 'ProvisioningFailed', message },
    ];
  }
  if (said) return [{ class: 'StorageFailed', reason: said.reason, message: said.message }];
  if (storageClass === '' || storageClass === undefined)
    return [
      {
        class: 'StorageFailed',
        reason: 'FailedBinding',
        message: 'it names no StorageClass, and no volume fits it',
        sinceMs,
      },
    ];
  if (typeof known === 'string' || known.waitsForConsumer) return [];
  return [{ class: 'StorageFailed', reason: 'Pending', message: `no volume was made by ${storageClass}`, sinceMs }];
}

function missingClass(storageClass: string | undefined, known: KnownClass, newest?: EventView): string | undefined {
  if (!storageClass || typeof known === 'object') return undefined;
  return known === 'missing' || missingStorageClassIn(newest?.message ?? '') === storageClass
    ? storageClass
    : undefined;
}

/** Pure. True if it waits for a pod that wants it, which is normal. */
export const waitsForConsumer = ({ phase }: ClaimView, known: KnownClass): boolean =>
  phase === 'Pending' && typeof known === 'object' && known.waitsForConsumer;
