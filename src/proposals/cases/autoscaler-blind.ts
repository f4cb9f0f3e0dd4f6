import { readAutoscaler } from '../../diagnosis/autoscaler.ts';
import { editOf, inWords } from '../../diagnosis/changed.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { type Case, nothingSafe } from '../scene.ts';

export async function autoscalerBlindCase(
  { namespace, object }: Subject,
  { reader, nowMs }: DeriveDeps,
): Promise<Case | undefined> {
  const autoscaler = await readAutoscaler(reader, namespace, object);
  if (!autoscaler) return undefined;
  const { why, target, replicas, sinceMs } = autoscaler;
  const since = sinceMs > 0 ? { atMs: sinceMs, text: 'autoscaler without its metrics since then' } : undefined;
  return {
    diagnosis: why || 'it cannot read its metrics',
    changed: inWords([editOf(autoscaler.object, []), since], nowMs),
    evidence: [`${target} ${replicas}`],
    fix: { refused: nothingSafe },
  };
}
