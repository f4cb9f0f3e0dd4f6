import { controllerOf } from '../../kube/raw.ts';
import type { Outcome } from '../../lib/queue.ts';
import { type ControllerDeps, createLoop, keyOf } from '../common/loop.ts';
import { writeStatus } from '../common/patch.ts';
import { ownedBy } from '../common/pods.ts';
import { createRecorder, refTo } from '../common/recorder.ts';
import type { PodObject, Template } from '../common/shapes.ts';
import { isJobOver, type JobObject, planJob } from './job-plan.ts';
import { createPodControl, inSlowStart, isNamespaceGoing, podOf } from './pod-control.ts';

/** Jobs: runs pods until so many have succeeded or too many have failed. */
export function runJobs(deps: ControllerDeps): void {
  const { api, clock, lookout } = deps;
  const recorder = createRecorder({ ...deps, component: 'job-controller' });
  const pods = createPodControl(api, recorder);
  const loop = createLoop(deps, 'job-controller', sync);
  lookout.on('Job', (job) => loop.add(keyOf(job)));
  lookout.on('Pod', ({ metadata }) => {
    const owner = controllerOf(metadata);
    if (owner?.kind === 'Job') loop.add(`${metadata.namespace}/${owner.name}`);
  });

  async function sync(namespace: string, name: string): Promise<Outcome> {
    const job = await api.get<JobObject>({ kind: 'Job', namespace, name });
    if (!job || isJobOver(job) || job.metadata.deletionTimestamp) return undefined;
    const all = await api.list<PodObject>('Pod', namespace);
    const plan = planJob(job, all.filter(ownedBy(job.metadata.uid)), clock.now());
    await Promise.all(plan.remove.map((pod) => pods.remove(job, pod)));
    const body = podOf(job, labelled(job), { generateName: `${name}-` });
    let created = 0;
    const failure = await inSlowStart(plan.create, async () => {
      await pods.create(job, body);
      created += 1;
    });
    const active = (plan.status.active ?? 0) - (plan.create - created);
    const { active: _, ...rest } = plan.status;
    await writeStatus(api, 'Job', job, active > 0 ? { ...rest, active } : rest);
    if (plan.ended?.type === 'Complete') recorder.event(refTo(job), 'Normal', 'Completed', 'Job completed');
    if (plan.ended?.type === 'Failed')
      recorder.event(refTo(job), 'Warning', plan.ended.reason ?? '', plan.ended.message ?? '');
    if (failure !== undefined && !isNamespaceGoing(failure)) throw failure;
    return plan.againInMs === undefined ? undefined : { againInMs: plan.againInMs };
  }
}

/** The API server writes these into a Job's template; one that does not is helped. */
function labelled({ metadata, spec }: JobObject): Template {
  const { template = {} } = spec ?? {};
  const own = {
    'batch.kubernetes.io/controller-uid': metadata.uid,
    'batch.kubernetes.io/job-name': metadata.name,
    'controller-uid': metadata.uid,
    'job-name': metadata.name,
  };
  return { ...template, metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...own } } };
}
