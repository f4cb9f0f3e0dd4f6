import type { AutoscalerView, ClaimView, EventView, NodeView, StorageClassView } from '../kube/views.ts';
import { missingStorageClassIn } from './event-words.ts';
import type { Trouble } from './trouble.ts';

/** Pure. Ready is False when its kubelet says so, Unknown when nobody has heard from it. What never spoke is only new. */
export function nodeTroubles({ ready, deleting }: NodeView): Trouble[] {
  if (deleting || !ready || ready.status === 'True') return [];
  return [{ class: 'NodeDown', reason: ready.reason || 'NodeNotReady', message: ready.message }];
}

/** Pure. Without metrics, or without a target, it scales nothing. One whose target was scaled to zero is off, not blind. */
export function autoscalerTroubles({ deleting, ableToScale, scalingActive }: AutoscalerView): Trouble[] {
  if (deleting) return [];
  const isBlind = scalingActive?.status === 'False' && scalingActive.reason !== 'ScalingDisabled';
  const cannot = ableToScale?.status === 'False' && !ableToScale.reason.startsWith('Backoff');
  const why = isBlind ? scalingActive : cannot ? ableToScale : undefined;
  return why ? [{ class: 'AutoscalerBlind', reason: why.reason, message: why.message }] : [];
}

/** A StorageClass: there, not there, or nobody may look. */
export type KnownClass = StorageClassView | 'missing' | 'unknown';

const failures: ReadonlySet<string> = new Set(['ProvisioningFailed', 'FailedBinding', 'VolumeMismatch', 'ClaimMisbound']); // prettier-ignore

const progress: ReadonlySet<string> = new Set(['WaitForFirstConsumer', 'WaitForPodScheduled', 'ProvisioningSucceeded']); // prettier-ignore

/** It was lost, or nobody will ever make a volume for it. */
const lost = (message: string): Trouble => ({ class: 'StorageFailed', reason: 'ClaimLost', message });

/**
 * Pure. What is wrong with a claim, from its status, its class and its own events (newest first).
 * A claim whose class does not exist is the class's trouble; one that waits for its first consumer is as it should be.
 * Where the class cannot be read, its newest event must say so.
 */
export function claimTroubles(claim: ClaimView, known: KnownClass, events: readonly EventView[] = []): Trouble[] {
  const { phase, deleting, storageClass, createdAtMs: sinceMs } = claim;
  if (deleting) return [];
  if (phase === 'Lost') return [lost('the volume it was bound to is gone')];
  if (phase !== 'Pending') return [];
  // That it still waits for its provisioner is said all the time, whatever the provisioner says.
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

/** Pure. Waits for a pod that wants it, as it should. */
export const waitsForConsumer = ({ phase }: ClaimView, known: KnownClass): boolean =>
  phase === 'Pending' && typeof known === 'object' && known.waitsForConsumer;
