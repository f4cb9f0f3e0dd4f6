import { endInWords, othersInWords } from '../../diagnosis/words/container-ends.ts';
import type { Revision } from '../../diagnosis/workload.ts';
import { arr, obj, type Raw } from '../../kube/raw.ts';
import { quantity } from '../../lib/quantity.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { memoryKill, type RevisionTrouble } from '../fixes/revision-trouble.ts';
import { undoFix } from '../fixes/undo-fix.ts';
import { type Case, ownWords, readScene, restartsInWords, worstOf } from '../scene.ts';

const containerIn = ({ template }: Revision, name: string): Raw => {
  const spec = obj(template.spec);
  return [...arr(spec['containers']), ...arr(spec['initContainers'])].find((one) => one['name'] === name) ?? {};
};

const limitOf = (container: Raw): number =>
  quantity(String(obj(obj(container['resources'])['limits'])['memory'] ?? '')) ?? Number.POSITIVE_INFINITY;

/** Only a smaller limit or another program can be to blame. */
const neitherSmallerNorNew =
  (name: string): NonNullable<RevisionTrouble['notBroughtBy']> =>
  (newest, previous) => {
    const [now, before] = [containerIn(newest, name), containerIn(previous, name)];
    if (limitOf(now) < limitOf(before) || now['image'] !== before['image']) return undefined;
    return `revision ${newest.view.revision} changed neither the memory limit of ${name} nor its image`;
  };

export async function oomKilledCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const { pods, changed } = scene;
  const worst = worstOf(pods, ({ state }) => state.ended?.reason === 'OOMKilled');
  const { state, memoryLimit } = worst?.container ?? {};
  const limit = memoryLimit ? `its limit is ${memoryLimit}` : 'it has no memory limit of its own';
  const name = state?.name ?? '';
  return {
    diagnosis: state ? `${endInWords(state)}; ${limit}` : 'a container was killed for memory',
    changed,
    evidence: [restartsInWords(pods), ...othersInWords(pods, name), ...(worst ? await ownWords(worst, deps) : [])],
    fix: undoFix(scene, deps, memoryKill(neitherSmallerNorNew(name))),
  };
}
