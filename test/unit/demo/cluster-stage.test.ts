import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Made, uninstall } from '../../../src/demo/cluster-stage.ts';
import { type Api, ApiError, type KubeObject, Unreachable } from '../../../src/kube/api.ts';
import type { Ref } from '../../../src/kube/resources.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const made: Made[] = [
  { ref: { kind: 'Namespace', name: 'tapfix' }, uid: '1' },
  { ref: { kind: 'CustomResourceDefinition', name: 'remediations.tapfix.dev' }, uid: '2' },
  { ref: { kind: 'ServiceAccount', namespace: 'tapfix', name: 'tapfix-writer' }, uid: '3' },
  { ref: { kind: 'Namespace', name: 'tapfix-demo-x' }, uid: '4' },
];

/** A server on which each takes its time to go, once it was asked to; Infinity: it stays. */
function aServer(goesAfterMs: Record<string, number>) {
  const clock = fakeClock();
  const there = new Map(made.map(({ ref, uid }) => [ref.name, { metadata: { name: ref.name, uid } } as KubeObject]));
  const asked = new Map<string, number>();
  const log: string[] = [];
  const isThere = (name: string): boolean =>
    there.has(name) && !(clock.now() >= (asked.get(name) ?? Infinity) + (goesAfterMs[name] ?? 0));
  const api = {
    list: async () => [],
    get: async ({ name }: Ref) => (isThere(name) ? there.get(name) : undefined),
    async delete({ name }: Ref) {
      if (goesAfterMs[name] === Infinity) throw new Unreachable('no answer');
      if (!isThere(name)) throw new ApiError('not found', 404, 'NotFound');
      if (!asked.has(name)) log.push(name);
      asked.set(name, asked.get(name) ?? clock.now());
    },
  } as unknown as Pick<Api, 'get' | 'list' | 'delete'>;
  return { api, clock, log, left: () => made.map(({ ref }) => ref.name).filter(isThere) };
}

test('last made, first removed; and nothing is called gone that is still there', async () => {
  const goesAfterMs = { 'tapfix-demo-x': 9_000, 'remediations.tapfix.dev': 30_000, tapfix: 5_000 };
  const { api, clock, log, left } = aServer(goesAfterMs);
  const printed: string[] = [];
  const print = (text: string): void => {
    printed.push(text.trim());
    if (text.includes('gone')) assert.deepEqual(left(), []);
  };
  const removed = uninstall({ api, made, clock, print });
  await clock.advance(60_000);
  await removed;
  assert.deepEqual(log, ['tapfix-demo-x', 'tapfix-writer', 'remediations.tapfix.dev', 'tapfix']);
  assert.deepEqual(printed, ['Removing what the demo put there (4 objects) ...', 'Everything is gone.']);
});

test('a cluster that has gone away is not waited for once for each object', async () => {
  const { api, clock } = aServer(Object.fromEntries(made.map(({ ref }) => [ref.name, Infinity])));
  const printed: string[] = [];
  const removed = uninstall({ api, made, clock, print: (text) => void printed.push(text.trim()) });
  await clock.advance(240_000);
  await removed;
  assert.equal(
    printed.at(-1),
    [
      'Some of it is still there; remove it with',
      '  kubectl delete namespace tapfix-demo-x',
      '  kubectl delete serviceaccount tapfix-writer -n tapfix',
      '  kubectl delete customresourcedefinition remediations.tapfix.dev',
      '  kubectl delete namespace tapfix',
    ].join('\n'),
  );
});

test('where nothing was made nothing is printed', async () => {
  const { api, clock } = aServer({});
  await uninstall({ api, made: [], clock, print: () => assert.fail('printed something') });
});
