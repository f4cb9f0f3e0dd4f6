import { endInWords, othersInWords } from '../../diagnosis/words/container-ends.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { memoryKill } from '../fixes/revision-trouble.ts';
import { undoFix } from '../fixes/undo-fix.ts';
import { type Case, ownWords, readScene, restartsInWords, worstOf } from '../scene.ts';

export async function oomKilledCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const { pods, changed } = scene;
  const worst = worstOf(pods, ({ state }) => state.ended?.reason === 'OOMKilled');
  const { state, memoryLimit } = worst?.container ?? {};
  const limit = memoryLimit ? `its limit is ${memoryLimit}` : 'it has no memory limit of its own';
  const name = state?.name ?? '';
  return {
    diagnosis: state ? `${endInWords(worst!.container)}; ${limit}` : 'a container was killed for memory',
    changed,
    evidence: [restartsInWords(pods), ...othersInWords(pods, name), ...(worst ? await ownWords(worst, deps) : [])],
    fix: undoFix(scene, deps, memoryKill(name)),
  };
}
