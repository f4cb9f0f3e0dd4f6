import type { KubeObject } from '../../kube/api.ts';
import { arr, num, type Raw, specIn, statusIn, str } from '../../kube/raw.ts';
import { counted } from '../../lib/counted.ts';
import { spokenDuration } from '../../lib/duration.ts';
import { line } from '../../lib/plain.ts';
import type { PodFacts } from '../pods.ts';
import { endInWords } from './ended.ts';

export interface JobFacts {
  job: KubeObject;
  pods: PodFacts[];
}

export const failureOf = (job: KubeObject): Raw | undefined =>
  arr(statusIn(job)['conditions']).find((one) => one['type'] === 'Failed' && one['status'] === 'True');

/** The container of its last try that ended badly. */
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
  const how = culprit ? `: ${endInWords(culprit.container.state)}` : '';
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
