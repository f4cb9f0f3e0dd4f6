import type { KubeObject, Reader } from '../kube/api.ts';

import { controllerOf, timeMs } from '../kube/views.ts';
import type { PodFacts } from './pods.ts';
import { failureOf, type JobFacts } from './words/job.ts';

/** The Job itself, or of a CronJob the last one that failed, with those of the pods that are its own. */
export async function readFailedJob(
  reader: Reader,
  owner: KubeObject,
  pods: readonly PodFacts[],
): Promise<JobFacts | undefined> {
  const job = owner.kind === 'CronJob' ? await readLastFailed(reader, owner) : owner;
  return job && { job, pods: pods.filter(({ pod }) => pod.owner?.uid === job.metadata.uid) };
}

async function readLastFailed(reader: Reader, cronJob: KubeObject): Promise<KubeObject | undefined> {
  const jobs = await reader.list<KubeObject>('Job', cronJob.metadata.namespace);
  return jobs
    .filter((job) => controllerOf(job.metadata)?.uid === cronJob.metadata.uid && failureOf(job))
    .sort((a, b) => timeMs(b.metadata.creationTimestamp) - timeMs(a.metadata.creationTimestamp))[0];
}
