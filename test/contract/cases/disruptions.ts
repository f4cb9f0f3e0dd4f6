import assert from 'node:assert/strict';
import { apiVersionOf, pathOf } from '../../../src/kube/resources.ts';
import { aPod } from '../builders.ts';
import { eventually, type Facts, type Ground, named, rawWord, type Thing } from '../ground.ts';

const ready = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-11-16T03:12:00Z' }],
};
const unready = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-11-16T03:12:00Z' }],
};

/** Pods on a node that nobody runs, by their states, under a budget of their own. */
async function scene({ api, raw, ns }: Ground, budget: object | undefined, states: object[]) {
  const app = named('app');
  const names = states.map((_, i) => `${app}-${i}`);
  if (budget) {
    const selector = { matchLabels: { app } };
    await api.create(
      { kind: 'PodDisruptionBudget', namespace: ns },
      { metadata: { name: app }, spec: { ...budget, selector } },
    );
  }
  for (const [i, name] of names.entries()) {
    await api.create({ kind: 'Pod', namespace: ns }, aPod(name, { nodeName: 'ghost' }, { app }));
    await api.patch({ kind: 'Pod', namespace: ns, name, subresource: 'status' }, 'merge', { status: states[i] });
  }
  const pod = (i: number) => api.get<Thing>({ kind: 'Pod', namespace: ns, name: names[i]! });
  const evict = (i: number, over: object = {}, query = '') => {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: names[i], namespace: ns }, ...over };
    return raw('POST', `${pathOf('Pod', ns, names[i])}/eviction${query}`, { body });
  };
  const allows = (wanted: object) =>
    eventually(`the budget to say ${JSON.stringify(wanted)}`, async () => {
      const found = await api.get<Thing>({ kind: 'PodDisruptionBudget', namespace: ns, name: app });
      return Object.entries(wanted).every(([field, value]) => found?.status?.[field] === value);
    });
  const end = async () => {
    for (const name of names) await raw('DELETE', pathOf('Pod', ns, name), { body: { gracePeriodSeconds: 0 } });
    if (budget) await api.delete({ kind: 'PodDisruptionBudget', namespace: ns, name: app });
  };
  return { app, names, pod, evict, allows, end };
}

export const disruptions: Facts = {
  'an eviction without a budget deletes the pod as a DELETE would': async (ground) => {
    const { evict, pod, end } = await scene(ground, undefined, [ready]);
    assert.equal(rawWord(await evict(0)), '201');
    assert.ok((await pod(0))?.metadata.deletionTimestamp);
    await end();
  },
  'an evicted pod says why it goes': async (ground) => {
    const { evict, pod, end } = await scene(ground, undefined, [ready]);
    await evict(0);
    const conditions = (await pod(0))?.status?.['conditions'] as { type: string; reason: string }[];
    assert.equal(conditions.find(({ type }) => type === 'DisruptionTarget')?.reason, 'EvictionByEvictionAPI');
    await end();
  },
  'an eviction through the client is 404 NotFound when the pod is not there': async ({ raw, ns }) => {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'nobody', namespace: ns } };
    assert.equal(rawWord(await raw('POST', `${pathOf('Pod', ns, 'nobody')}/eviction`, { body })), '404 NotFound');
  },
  'an eviction of another name than in the path is 400 BadRequest': async (ground) => {
    const { evict, end } = await scene(ground, undefined, [ready]);
    assert.equal(rawWord(await evict(0, { metadata: { name: 'other' } })), '400 BadRequest');
    await end();
  },
  'a budget says how many pods it can spare': async (ground) => {
    const { allows, end } = await scene(ground, { minAvailable: 1 }, [ready, ready, unready]);
    await allows({ disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 3 });
    await end();
  },
  'an exhausted budget is 429 TooManyRequests, in these words, and nothing is deleted': async (ground) => {
    const { app, evict, pod, allows, end } = await scene(ground, { minAvailable: 1 }, [ready]);
    await allows({ disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 });
    const { status, body } = await evict(0);
    assert.deepEqual([status, body.reason], [429, 'TooManyRequests']);
    assert.equal(body.message, "Cannot evict pod as it would violate the pod's disruption budget.");
    assert.deepEqual(body.details?.causes, [
      { reason: 'DisruptionBudget', message: `The disruption budget ${app} needs 1 healthy pods and has 1 currently` },
    ]);
    assert.equal((await pod(0))?.metadata.deletionTimestamp, undefined);
    await end();
  },
  'through the client it is an ApiError of 429': async (ground) => {
    const { names, allows, end } = await scene(ground, { minAvailable: 1 }, [ready]);
    await allows({ disruptionsAllowed: 0, currentHealthy: 1 });
    const ref = { kind: 'Pod' as const, namespace: ground.ns, name: names[0]!, subresource: 'eviction' };
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: names[0] } };
    await assert.rejects(ground.api.createSub(ref, body), { code: 429, reason: 'TooManyRequests' });
    await end();
  },
  'a rehearsed eviction asks the budget, and takes nothing from it': async (ground) => {
    const { evict, allows, pod, end } = await scene(ground, { minAvailable: 1 }, [ready, ready]);
    await allows({ disruptionsAllowed: 1 });
    assert.equal(rawWord(await evict(0, {}, '?dryRun=All')), '201');
    assert.equal(rawWord(await evict(0, { deleteOptions: { dryRun: ['All'] } })), '201');
    assert.equal((await pod(0))?.metadata.deletionTimestamp, undefined);
    assert.equal(rawWord(await evict(0)), '201');
    await end();
  },
  'a rehearsed eviction under an exhausted budget is 429 as well': async (ground) => {
    const { evict, allows, end } = await scene(ground, { minAvailable: 1 }, [ready]);
    await allows({ disruptionsAllowed: 0, currentHealthy: 1 });
    assert.equal(rawWord(await evict(0, {}, '?dryRun=All')), '429 TooManyRequests');
    await end();
  },
  'what one eviction takes the next does not have': async (ground) => {
    const { evict, allows, end } = await scene(ground, { minAvailable: 1 }, [ready, ready]);
    await allows({ disruptionsAllowed: 1 });
    assert.equal(rawWord(await evict(0)), '201');
    assert.equal(rawWord(await evict(1)), '429 TooManyRequests');
    await end();
  },
  'an unready pod may go when the others are enough': async (ground) => {
    const { evict, allows, end } = await scene(ground, { minAvailable: 1 }, [ready, unready]);
    await allows({ disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 });
    assert.equal(rawWord(await evict(1)), '201');
    await end();
  },
  'an unready pod may not go when the others are too few': async (ground) => {
    const { evict, allows, end } = await scene(ground, { minAvailable: 2 }, [ready, unready]);
    await allows({ disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2 });
    assert.equal(rawWord(await evict(1)), '429 TooManyRequests');
    await end();
  },
  'a pod that is Pending needs no budget': async (ground) => {
    const { evict, allows, end } = await scene(ground, { minAvailable: 1 }, [{ phase: 'Pending' }]);
    await allows({ expectedPods: 1, desiredHealthy: 1 });
    assert.equal(rawWord(await evict(0)), '201');
    await end();
  },
  'an eviction under a precondition that does not hold is 409 Conflict': async (ground) => {
    const { evict, end } = await scene(ground, undefined, [ready]);
    assert.equal(rawWord(await evict(0, { deleteOptions: { preconditions: { uid: 'another' } } })), '409 Conflict');
    await end();
  },
  'an eviction under the resourceVersion that the pod has is done': async (ground) => {
    const { evict, pod, end } = await scene(ground, undefined, [ready]);
    const { resourceVersion } = (await pod(0))!.metadata;
    assert.equal(rawWord(await evict(0, { deleteOptions: { preconditions: { resourceVersion } } })), '201');
    assert.ok((await pod(0))?.metadata.deletionTimestamp);
    await end();
  },
  'two budgets over one pod are too many: 500': async (ground) => {
    const { app, evict, end } = await scene(ground, { minAvailable: 0 }, [ready]);
    const ref = { kind: 'PodDisruptionBudget' as const, namespace: ground.ns };
    const second = { metadata: { name: `${app}-too` }, spec: { minAvailable: 0, selector: { matchLabels: { app } } } };
    await ground.api.create(ref, second);
    await eventually('the server to see both', async () => (await evict(0, {}, '?dryRun=All')).status === 500);
    await ground.api.delete({ ...ref, name: `${app}-too` });
    await end();
  },
  'a share of pods is counted by what their owner wants': async (ground) => {
    const { api, ns } = ground;
    const app = named('app');
    const template = {
      metadata: { labels: { app } },
      spec: { schedulerName: 'nobody', containers: [{ name: 'app', image: 'localhost/app:1.0' }] },
    };
    const set = await api.create<Thing>(
      { kind: 'ReplicaSet', namespace: ns },
      { metadata: { name: app }, spec: { replicas: 3, selector: { matchLabels: { app } }, template } },
    );
    const owner = {
      apiVersion: apiVersionOf('ReplicaSet'),
      kind: 'ReplicaSet',
      name: app,
      uid: set.metadata.uid,
      controller: true,
      blockOwnerDeletion: false,
    };
    // Where a controller makes pods of its own, these are three of them all the same.
    for (let i = 0; i < 3; i++) {
      const pod = aPod(`${app}-${i}`, {}, { app }) as { metadata: object };
      await api.create(
        { kind: 'Pod', namespace: ns },
        { ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } },
      );
    }
    const budget = { metadata: { name: app }, spec: { maxUnavailable: '34%', selector: { matchLabels: { app } } } };
    await api.create({ kind: 'PodDisruptionBudget', namespace: ns }, budget);
    await eventually('the budget', async () => {
      const { status } = (await api.get<Thing>({ kind: 'PodDisruptionBudget', namespace: ns, name: app }))!;
      return status?.['expectedPods'] === 3 && status['desiredHealthy'] === 1;
    });
    await api.delete({ kind: 'ReplicaSet', namespace: ns, name: app });
  },
  'a budget with two opinions is 422 Invalid': async ({ raw, ns }) => {
    const body = { metadata: { name: named() }, spec: { minAvailable: 1, maxUnavailable: 1, selector: {} } };
    assert.equal(rawWord(await raw('POST', pathOf('PodDisruptionBudget', ns), { body })), '422 Invalid');
  },
};
