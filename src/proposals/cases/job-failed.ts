import { culpritOf, jobInWords, readFailedJob } from '../../diagnosis/job.ts';
import { num, specIn } from '../../kube/raw.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { type Case, ownWords, readScene } from '../scene.ts';

export async function jobFailedCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const { workload, pods, reader, changed } = scene;
  const facts = await readFailedJob(reader, workload.object, pods);
  const culprit = facts && culpritOf(facts);
  const isRunOf = facts && workload.object.kind === 'CronJob';
  const spec = facts ? specIn(facts.job) : {};
  const limit = num(spec['backoffLimit'], -1);
  return {
    diagnosis: facts
      ? `${isRunOf ? `its run ${facts.job.metadata.name}` : 'it'} ${jobInWords(facts)}`
      : 'its last run failed',
    changed,
    evidence: [
      ...(limit >= 0 ? [`it allows ${limit === 0 ? 'no' : limit} ${limit === 1 ? 'retry' : 'retries'}`] : []),
      ...(culprit ? await ownWords(culprit, deps) : []),
    ],
    fix: { refused: 'what it did before it failed is not known, so running it again is left to a person' },
  };
}
