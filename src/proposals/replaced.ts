import type { RolledOutKind } from '../actions/action.ts';
import { replacedInWords } from '../actions/replacing.ts';
import { essence } from '../actions/template.ts';
import type { Revision, Workload } from '../diagnosis/workload.ts';
import { isFinished } from '../health/loop.ts';
import type { PodTemplate } from '../kube/views.ts';
import { sameValue } from '../lib/hash.ts';

/** How many pods a template replaces that is, or nearly is, an older revision's: those that still run just that stay. */
export function replacedBy(
  kind: RolledOutKind,
  next: PodTemplate,
  { object, pods, counts }: Workload,
  older: Revision,
) {
  const { uid, revision } = older.view;
  const isSame = sameValue(essence(next), essence(older.template));
  const staying = pods.filter((pod) => isSame && pod.owner?.uid === uid && !pod.deleting && !isFinished(pod)).length;
  if (staying === 0) return replacedInWords(kind, object);
  const left = counts.desired - staying;
  const stay = `${staying} of revision ${revision} ${staying === 1 ? 'stays' : 'stay'}`;
  return left > 0 ? `${replacedInWords(kind, object, left)}, ${stay}` : `${stay}, newer ones go`;
}
