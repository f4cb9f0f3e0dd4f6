import assert from 'node:assert/strict';
import { test } from 'node:test';
import { essence, mergeTemplate } from '../../../src/actions/template.ts';

const labelled = (labels: Record<string, string>, annotations?: Record<string, string>) => ({
  metadata: { labels, ...(annotations && { annotations }) },
  spec: { containers: [] },
});
const merges = [
  {
    name: 'the older value wins where both have a key',
    older: labelled({ app: 'a', tier: 'old' }),
    current: labelled({ app: 'a', tier: 'new' }),
    want: labelled({ app: 'a', tier: 'old' }),
  },
  {
    name: 'a key that only the current one has stays',
    older: labelled({ app: 'a' }),
    current: labelled({ app: 'a', team: 'x' }, { 'kubectl.kubernetes.io/restartedAt': 't' }),
    want: labelled({ app: 'a', team: 'x' }, { 'kubectl.kubernetes.io/restartedAt': 't' }),
  },
  {
    name: 'pod-template-hash never comes along',
    older: labelled({ app: 'a', 'pod-template-hash': '1' }),
    current: labelled({ app: 'a', 'pod-template-hash': '2' }),
    want: labelled({ app: 'a' }),
  },
];
for (const { name, older, current, want } of merges) {
  test(name, () => assert.deepEqual(mergeTemplate(older, current), want));
}

test('two templates that differ in the generated hash alone are the same', () => {
  const labelled = (hash: string) => ({ metadata: { labels: { app: 'a', 'pod-template-hash': hash } }, spec: {} });
  assert.deepEqual(essence(labelled('1') as never), essence(labelled('2') as never));
});
