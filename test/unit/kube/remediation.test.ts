import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAttested, viewRemediation, withCondition } from '../../../src/kube/remediation.ts';
import { aFix, condition } from '../../support/fixes.ts';

test('the time of a condition moves only when its status does', () => {
  const list = [condition('Confirmed', '02:00:00', { status: 'False', message: 'a' })];
  const timeAfter = (status: 'True' | 'False') =>
    withCondition(list, condition('Confirmed', '03:00:00', { status, message: 'b' }))[0]?.lastTransitionTime;
  assert.deepEqual([timeAfter('False'), timeAfter('True')], ['2026-11-16T02:00:00Z', '2026-11-16T03:00:00Z']);
});

const deciders: [string | undefined, boolean][] = [
  ['telegram:123456789', true],
  ['slack:U012AB3CD', true],
  ['ada@example.com', false],
  ['oidc:telegram:7', false],
  [undefined, false],
];
for (const [by, want] of deciders)
  test(`${by} is ${want ? 'the word of the watcher' : 'nobody in a chat'}`, () => assert.equal(isAttested(by), want));

test('what others wrote beside a record is not kept', () => {
  const fix = aFix();
  const annotations = { 'tapfix.dev/acknowledged-by': 'ada', note: 'x'.repeat(200_000) };
  const view = viewRemediation({
    ...fix,
    metadata: { ...fix.metadata, annotations, labels: { a: 'b' }, managedFields: [{ manager: 'kubectl' }] },
  } as never);
  assert.deepEqual(view?.metadata, { ...fix.metadata, annotations: { 'tapfix.dev/acknowledged-by': 'ada' } });
});
