import type { Writer } from '../kube/api.ts';
import type { Write } from './action.ts';

/** All that an action may do. */
export type Hand = Pick<Writer, 'patch' | 'delete'>;

/** Sends a planned write. A rehearsal is the same request with `dryRun`, and nothing else. */
export async function perform(writer: Hand, write: Write, dryRun: boolean): Promise<void> {
  if (write.do === 'delete') await writer.delete(write.ref, write.preconditions, { dryRun });
  else await writer.patch(write.ref, 'json', write.body, { dryRun });
}
