import type { Writer } from '../kube/api.ts';
import { unreachable } from '../lib/errors.ts';
import type { Write } from './action.ts';
import { evict } from './eviction.ts';

/** All that an action may do. */
export type Hand = Pick<Writer, 'patch' | 'delete' | 'createSub'>;

/** Sends a planned write. A rehearsal is the same request with `dryRun`, and nothing else. */
export async function perform(writer: Hand, write: Write, dryRun: boolean): Promise<void> {
  switch (write.do) {
    case 'patch':
      await writer.patch(write.ref, 'json', write.body, { dryRun });
      return;
    case 'delete':
      return writer.delete(write.ref, write.preconditions, { dryRun });
    case 'evict':
      return evict(writer, write.ref, write.preconditions, dryRun);
    default:
      return unreachable(write);
  }
}
