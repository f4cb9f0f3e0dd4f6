import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobInWords } from '../../../src/diagnosis/job.ts';

const jobs: { reason: string; message?: string; spec?: object; status?: object; want: string }[] = [
  { reason: 'BackoffLimitExceeded', status: { failed: 7 }, want: 'gave up after 7 tries' },
  { reason: 'BackoffLimitExceeded', status: { failed: 1 }, want: 'gave up after 1 try' },
  { reason: 'DeadlineExceeded', spec: { activeDeadlineSeconds: 600 }, want: 'was stopped at its deadline of 10 min' },
  { reason: 'PodFailurePolicy', message: 'Container app for pod shop/x failed with exit code 42 matching FailJob rule at index 0', want: 'was ended by its failure policy: Container app for pod shop/x failed with exit code 42 matching FailJob rule at index 0' },
  { reason: 'FailedIndexes', status: { failedIndexes: '1,3-5' }, want: 'failed for the indexes 1,3-5' },
  { reason: 'Odd', message: 'who knows', want: 'who knows' },
]; // prettier-ignore
for (const { reason, message = '', spec = {}, status = {}, want } of jobs)
  test(`a Job that failed: ${want}`, () => {
    const conditions = [{ type: 'Failed', status: 'True', reason, message }];
    const job = { metadata: {} as never, spec, status: { ...status, conditions } };
    assert.equal(jobInWords({ job, pods: [] }), want);
  });
