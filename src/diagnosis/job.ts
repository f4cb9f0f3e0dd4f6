import type { KubeObject, Reader } from '../kube/api.ts';
import { arr, controllerOf, num, type Raw, specIn, statusIn, str, timeMs } from '../kube/raw.ts';
import { spokenDuration } from '../lib/duration.ts';
import { counted, line } from '../lib/text.ts';
import type { PodFacts } from './pods.ts';
import { endInWords } from './words/container-ends.ts';

interface JobFacts {
  job: KubeObject;
  pods: PodFacts[];
}

const failureOf = (job: KubeObject): Raw | undefined =>
  arr(statusIn(job)['conditions']).find((one) => one['type'] === 'Failed' && one['status'] === 'True');

/** The container of its last try that failed. */
export function culpritOf({
  pods,
}: JobFacts): { pod: PodFacts; container: PodFacts['containers'][number] } | undefined {
  const ends = pods.flatMap((pod) => pod.containers.map((container) => ({ pod, container })));
  return ends
    .filter(({ container }) => container.state.ended && container.state.ended.exitCode !== 0)
    .sort((a, b) => b.container.state.ended!.finishedAtMs - a.container.state.ended!.finishedAtMs)[0];
}

/** Pure. "gave up after 2 tries: container app exits 1 within a second" */
export function jobInWords(facts: JobFacts): string {
  const [spec, status] = [specIn(facts.job), statusIn(facts.job)];
  const { reason, message } = failureOf(facts.job) ?? {};
  const culprit = culpritOf(facts);
  const how = culprit ? `: ${endInWords(culprit.container)}` : '';
  const tries = num(status['failed']);
  switch (reason) {
    case 'DeadlineExceeded':
      return `was stopped at its deadline of ${spokenDuration(num(spec['activeDeadlineSeconds']) * 1000)}`;
    case 'BackoffLimitExceeded':
      return `gave up after ${tries === 1 ? '1 try' : `${tries} tries`}${how}`;
    case 'PodFailurePolicy':
      return `was ended by its failure policy: ${line(str(message), 240)}`;
    case 'MaxFailedIndexesExceeded':
    case 'FailedIndexes':
      return `failed for the indexes ${line(str(status['failedIndexes']), 80) || '(not said)'}${how}`;
    default:
      return message ? line(str(message), 240) : `${counted(tries, 'pod')} failed${how}`;
  }
}

/** The Job itself, or the last failed Job of a CronJob, with the pods that belong to it. */
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
