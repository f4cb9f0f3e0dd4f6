import { hasCode, type Preconditions, type Writer } from '../kube/api.ts';
import type { Ref } from '../kube/resources.ts';
import { messageOf, unreachable } from '../lib/errors.ts';
import type { Right, Write } from './action.ts';

/** Everything that an action may do. */
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

export const evictionRight: Right = {
  group: '',
  resource: 'pods/eviction',
  verb: 'create',
  must: {
    hold: "object.?deleteOptions.?preconditions.?uid.orValue('') != ''",
    say: 'tapfix-writer evicts only the pod that it names by its uid',
  },
};

/** A deletion that respects the disruption budgets. */
export async function evict(writer: Hand, pod: Ref, preconditions: Preconditions, dryRun: boolean): Promise<void> {
  const { name, namespace } = pod;
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  const body = { ...eviction, deleteOptions: { preconditions } };
  await writer.createSub({ ...pod, subresource: 'eviction' }, body, { dryRun });
}

/**
 * Other 429 answers mean "ask again later". This one is a clear refusal: a disruption budget does not allow the
 * eviction.
 */
export const isOverBudget = (error: unknown): boolean =>
  hasCode(error, 429) && /disruption budget/.test(messageOf(error));
