import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Notice } from '../../src/kube/notice.ts';
import type { Remediation } from '../../src/kube/remediation.ts';
import { aFix, condition } from '../support/fixes.ts';
import { wantedIn } from './arguments.ts';
import { type Books, faultsIn, type Post } from './books.ts';
import { failureLines, replayCommand } from './report.ts';
import { runVirtual } from './worker.ts';

const fix = (n = 1, over: Partial<Remediation['spec']> = {}): Remediation => {
  const made = aFix({ n, phase: 'Recovered', conditions: [condition('IncidentCleared', '02:20:00')] });
  return { ...made, spec: { ...made.spec, approval: { state: 'Approved', by: 'telegram:7' }, ...over } };
};
const notice = (of: Remediation, name = 'n1'): Notice => ({
  metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '' },
  spec: {
    channel: 'telegram',
    chat: '-1',
    form: 'card',
    members: [{ namespace: 'shop', name: of.metadata.name, uid: of.metadata.uid }],
  },
  status: { message: '1' },
});
const post = (over: Partial<Post> = {}): Post => ({
  notice: 'n1',
  form: 'card',
  by: 'watcher 0.1',
  known: false,
  unheard: false,
  ...over,
});
const one = fix();
const { key } = one.spec.incident;
const execution = { fix: one.metadata.uid, namespace: 'shop', name: 'checkout', what: 'PATCH checkout' };
const balanced: Books = {
  incidents: [{ key, decision: 'approve' }],
  fixes: [one],
  notices: [notice(one)],
  posts: [post()],
  executions: [execution],
  bindings: [],
  wrong: [],
};

test('books that balance: nothing is found', () => assert.deepEqual(faultsIn(balanced), []));

const cases: Record<string, [Partial<Books>, RegExp]> = {
  'an incident without a record': [{ fixes: [], executions: [] }, /has 0 Remediations/],
  'two records that begin the same episode': [{ fixes: [one, fix(2)] }, /has 2 Remediations/],
  'a record of what nobody broke': [{ incidents: [] }, /nobody broke/],
  'a record in no message': [{ notices: [] }, /is in 0 messages/],
  'a record in two messages': [{ notices: [notice(one), notice(one, 'n2')] }, /is in 2 messages/],
  'a message that was never posted': [{ posts: [] }, /the vendor never got/],
  'a message that was posted twice': [{ posts: [post(), post()] }, /posted by watcher 0\.1 and again by watcher 0\.1/],
  'a message that was posted again though recorded': [
    { posts: [post({ unheard: true }), post({ known: true })] },
    /though its Notice says/,
  ],
  'an approval that was executed twice': [{ executions: [execution, execution] }, /executed 2 times/],
  'a change that nobody approved': [
    { fixes: [{ ...one, spec: { ...one.spec, approval: { state: 'Rejected', by: 'telegram:7' } } }] },
    /nobody approved PATCH/,
  ],
  'rights that are left': [{ bindings: ['tapfix-1'] }, /RoleBinding tapfix-1 is left/],
  'an incident that is never over': [{ fixes: [{ ...one, status: { phase: 'Applied' } }] }, /still open/],
};

for (const [name, [over, words]] of Object.entries(cases))
  test(`${name} is found`, () => assert.match(faultsIn({ ...balanced, ...over }).join('\n'), words));

test('a message that came again because its poster was killed is no fault', () =>
  assert.deepEqual(faultsIn({ ...balanced, posts: [post({ unheard: true }), post({ by: 'watcher 0.2' })] }), []));

test('the same seed is the same run, and a failure says how to repeat it', async () => {
  const [first, second] = [await runVirtual(3), await runVirtual(3)];
  assert.deepEqual(first.wrong, []);
  const { cpuMs: _one, ...same } = first;
  const { cpuMs: _other, ...again } = second;
  assert.deepEqual(again, same);
  assert.match(failureLines(first).join('\n'), /seed 3[\s\S]*breaks \([\s\S]*incident shop[\s\S]*--virtual --seed 3/);
  const words = replayCommand({ form: 'real', seed: 7 }).split(' -- ')[1]!;
  assert.deepEqual(wantedIn(words.split(' ')), { virtual: [], real: [7] });
});

test('which runs are wanted', () => {
  const counts = (...words: string[]): number[] => Object.values(wantedIn(words)!).map((seeds) => seeds.length);
  assert.deepEqual(counts(), [500, 12]);
  assert.deepEqual(counts('--long'), [10_000, 100]);
  assert.deepEqual(counts('--seed', '9'), [1, 0]);
  assert.deepEqual(counts('--virtual', '--runs', '40'), [40, 0]);
  assert.equal(wantedIn(['--help']), undefined);
  assert.throws(() => wantedIn(['--runs', 'many']), /--runs must be a whole number from 1 on, not "many"\./);
  assert.throws(() => wantedIn(['--sed', '1']), /Unknown option '--sed'; --help lists the options\./);
});
