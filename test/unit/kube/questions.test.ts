import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, type KubeObject, type Reader } from '../../../src/kube/api.ts';
import { createQuestions, shown } from '../../../src/kube/questions.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const live = (name: string): KubeObject => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '' },
});

/** A cluster with these objects, and what it was asked. */
function readerOf(names: readonly string[], refuseList?: ApiError) {
  const asked: string[] = [];
  const reader: Reader = {
    async get(ref) {
      asked.push(`get ${ref.name}`);
      return (names.includes(ref.name) ? live(ref.name) : undefined) as never;
    },
    async list(kind, namespace) {
      asked.push(`list ${kind} ${namespace}`);
      if (refuseList) throw refuseList;
      return names.map(live) as never;
    },
  };
  return { reader, asked };
}
const nameOf = (answer: unknown): string | undefined => (answer as KubeObject | undefined)?.metadata.name;

test('one question is one GET, and the same question at the same time is asked once', async () => {
  const { reader, asked } = readerOf(['a']);
  const questions = createQuestions(reader, fakeClock());
  const both = await Promise.all([questions.ask('Pod', 'shop', 'a'), questions.ask('Pod', 'shop', 'a')]);
  assert.deepEqual(both.map(nameOf), ['a', 'a']);
  assert.deepEqual(asked, ['get a']);
});

test('several questions about one namespace become one list', async () => {
  const { reader, asked } = readerOf(['a', 'c']);
  const questions = createQuestions(reader, fakeClock());
  const all = await Promise.all(['a', 'b', 'c', 'd'].map((name) => questions.ask('Pod', 'shop', name)));
  assert.deepEqual(all.map(nameOf), ['a', undefined, 'c', undefined]);
  assert.deepEqual(asked, ['list Pod shop']);
});

for (const code of [403, 413])
  test(`a list that is refused with ${code} becomes a GET each, and is not tried again`, async () => {
    const { reader, asked } = readerOf(['a', 'b', 'c'], new ApiError('no', code, 'No'));
    const questions = createQuestions(reader, fakeClock());
    const ask = () => Promise.all(['a', 'b', 'c'].map((name) => questions.ask('Pod', 'shop', name)));
    assert.deepEqual((await ask()).map(nameOf), ['a', 'b', 'c']);
    await ask();
    assert.equal(asked.filter((one) => one.startsWith('list')).length, 1);
  });

test('a list that fails otherwise is an error for all of them, and they can ask again', async () => {
  const { reader } = readerOf(['a', 'b', 'c'], new ApiError('busy', 503, 'ServiceUnavailable'));
  const questions = createQuestions(reader, fakeClock());
  const all = await Promise.allSettled(['a', 'b', 'c'].map((name) => questions.ask('Pod', 'shop', name)));
  assert.deepEqual(new Set(all.map(({ status }) => status)), new Set(['rejected']));
  assert.equal(nameOf(await questions.ask('Pod', 'shop', 'a')), 'a');
});

test('beyond its pace it waits, what comes meanwhile joins, and all are answered', async () => {
  const clock = fakeClock();
  const { reader, asked } = readerOf(['n1']);
  const questions = createQuestions(reader, clock, { most: 2, perSecond: 1, perQuestion: 0 });
  await questions.ask('Pod', 'shop', 'x1');
  await questions.ask('Pod', 'shop', 'x2');
  const later = Promise.all(Array.from({ length: 100 }, (_, n) => questions.ask('Pod', 'shop', `n${n}`)));
  await clock.advance(500);
  assert.equal(asked.length, 2);
  await clock.advance(600);
  const answers = await later;
  assert.equal(answers.filter(Boolean).length, 1);
  assert.deepEqual(asked, ['get x1', 'get x2', 'list Pod shop']);
});

test('a question that waits is answered at once when the watch shows the object', async () => {
  const clock = fakeClock();
  const { reader, asked } = readerOf([]);
  const questions = createQuestions(reader, clock, { most: 1, perSecond: 0.001, perQuestion: 0 });
  await questions.ask('Pod', 'shop', 'first');
  const waiting = questions.ask('Pod', 'shop', 'new', 'uid-new');
  questions.hasShown('uid-new');
  assert.equal(await waiting, shown);
  assert.deepEqual(asked, ['get first']);
});
