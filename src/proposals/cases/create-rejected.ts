import { readRefusals } from '../../diagnosis/events.ts';
import { denialIn, denialInWords } from '../../diagnosis/words/admission.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { type Case, readScene } from '../scene.ts';

export async function createRejectedCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const refusals = await readRefusals(scene.reader, scene.workload);
  const [first = 'its pods are refused', ...others] = [
    ...new Set(refusals.map((words) => denialInWords(denialIn(words)))),
  ];
  return {
    diagnosis: first,
    changed: scene.changed,
    evidence: others.slice(0, 3),
    fix: { refused: 'tapfix does not change policies' },
  };
}
