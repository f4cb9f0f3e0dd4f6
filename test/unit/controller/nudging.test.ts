import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nudgeAnnotation } from '../../../src/actions/nudge.ts';
import { nudgeUntilPodsAppear, rehearseNudges } from '../../../src/controller/nudging.ts';
import { ApiError } from '../../../src/kube/api.ts';
import type { Call } from '../../support/fake-api.ts';
import { fakeServer } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { silent } from './world.ts';

/** Two StatefulSets that lack a pod each; `onNudge` is what their controller, or the server, does about it. */
function rig(onNudge: (call: Call, nth: number, give: () => void) => void = () => undefined) {
  const clock = fakeClock();
  const server = fakeServer(clock);
  const blocked = ['a', 'b'].map((name) => {
    const body = { metadata: { name }, spec: { replicas: 1 }, status: { replicas: 0 } };
    return { kind: 'StatefulSet', name, uid: server.seed('StatefulSet', 'shop', body).metadata.uid };
  });
  const nudges: string[] = [];
  server.hooks.before = (call) => {
    if (call.verb !== 'patch') return;
    nudges.push(call.name!);
    const nth = nudges.filter((name) => name === call.name).length;
    onNudge(call, nth, () => server.change('StatefulSet', 'shop', call.name!, { status: { replicas: 1 } }));
  };
  const api = server.client();
  const work = { namespace: 'shop', fixUid: 'f', blocked };
  const run = async () => {
    const done = nudgeUntilPodsAppear({ hand: api, reader: api, clock, log: silent }, work);
    await clock.advance(20_000);
    await done;
    return nudges;
  };
  return { server, run, work, api };
}

test('each is nudged until its pods appear', async () => {
  const { run } = rig(({ name }, nth, give) => {
    if (nth === (name === 'a' ? 1 : 3)) give();
  });
  assert.deepEqual(await run(), ['a', 'b', 'b', 'b']);
});

test('at most five times', async () => {
  assert.equal((await rig().run()).length, 10);
});

test('the mark names the fix and the round; the spec stays', async () => {
  const { server, run } = rig();
  await run();
  const { metadata } = server.get('StatefulSet', 'shop', 'a')!;
  assert.deepEqual([metadata.annotations?.[nudgeAnnotation], metadata.generation], ['f-5', 1]);
});

test('trouble with one does not keep the others waiting', async () => {
  const { server, run } = rig(({ name }, _nth, give) => {
    if (name === 'a') throw new ApiError('no', 500, 'InternalError');
    give();
  });
  await run();
  assert.deepEqual(server.get('StatefulSet', 'shop', 'b')?.['status'], { replicas: 1 });
});

test('an owner that is gone, or another of the same name, is left alone', async () => {
  const { server, run } = rig();
  server.remove('StatefulSet', 'shop', 'a');
  server.remove('StatefulSet', 'shop', 'b');
  server.seed('StatefulSet', 'shop', { metadata: { name: 'b' }, spec: { replicas: 1 } });
  assert.deepEqual(await run(), []);
});

test('a rehearsal changes nothing, forgives an owner that is gone, and fails on any other no', async () => {
  const { server, api, work } = rig();
  server.remove('StatefulSet', 'shop', 'a');
  const before = structuredClone(server.get('StatefulSet', 'shop', 'b'));
  await rehearseNudges(api, work);
  assert.deepEqual(server.get('StatefulSet', 'shop', 'b'), before);
  const strict = rig(() => {
    throw new ApiError('no', 403, 'Forbidden');
  });
  await assert.rejects(rehearseNudges(strict.api, strict.work), /no/);
});
