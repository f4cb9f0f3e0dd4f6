import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { phaseOf, severityOf } from '../../../src/kube/remediation.ts';
import { isRunning, losePods, rollOut, deployment, tightQuota, untilAsked } from './shop.ts';
import { aWorld, type World, type WorldOptions } from './world.ts';

const both = { channels: { telegram: { chat: -1001 }, slack: { channel: 'C01' } } };

/** Three pods of "web", each of which can be replaced by one that is ready, or never becomes so. */
async function aFailingProbe(t: TestContext, options: WorldOptions = {}) {
  const now: { probe: 'fails' | 'passes' } = { probe: 'passes' };
  const behaviours = () => (now.probe === 'fails' ? ({ do: 'unready' } as const) : undefined);
  const world = await aWorld(t, { ...options, behaviours });
  world.start();
  await isRunning(world, 'web', { replicas: 3 });
  now.probe = 'fails';
  const isReady = (pod: object): boolean =>
    (pod as { status: { conditions: { type: string; status: string }[] } }).status.conditions.some(
      ({ type, status }) => type === 'Ready' && status === 'True',
    );
  /** One that is ready (or is not) is replaced by one whose probe fails (or passes). */
  async function onePod(probe: 'fails' | 'passes'): Promise<void> {
    now.probe = probe;
    const pods = await world.api.list('Pod', 'shop', { labelSelector: 'app=web' });
    const pod = pods.find((one) => isReady(one) === (probe === 'fails'))!;
    await world.api.delete({ kind: 'Pod', namespace: 'shop', name: pod.metadata.name });
    await world.advance(3_000);
  }
  return { world, onePod };
}

const sounds = (world: World): (boolean | undefined)[] =>
  world.phone.messages.map(({ message }) => message.silent !== true);

describe('severity is impact, and a rise pings', { concurrency: 3 }, () => {
  test('0/3 through a failing probe, from the beginning: it arrives with a sound', async (t) => {
    const { world } = await aFailingProbe(t);
    await losePods(world, 'web');
    await world.until('a card', () => world.phone.messages.length === 1, 240_000);
    const [fix] = await world.fixes();
    assert.deepEqual([fix!.spec.incident.class, fix!.spec.incident.severity], ['ProbeFailing', 'critical']);
    assert.deepEqual([sounds(world), world.phone.dots()], [[true], ['red']]);
    await world.advance(600_000);
    assert.equal(world.phone.messages.length, 1, 'and nothing has risen since');
  });

  test('2/3 is a warning; 0/3 pings once more, on each channel; a restart in between changes nothing', async (t) => {
    const { world, onePod } = await aFailingProbe(t, { config: both });
    await onePod('fails');
    await world.until(
      'both cards',
      () => world.phone.messages.length === 1 && world.slack.messages.length === 1,
      240_000,
    );
    assert.deepEqual(sounds(world), [false]);
    assert.equal((await world.fixes())[0]!.spec.incident.severity, 'warning');
    await world.advance(300_000);
    world.kill();
    await onePod('fails');
    await onePod('fails');
    await world.advance(10_000);
    world.start();
    await world.until('a reply', () => world.phone.messages.length === 2 && world.slack.messages.length === 2, 60_000);
    world.kill();
    world.start();
    await world.advance(1_200_000);
    for (const { messages } of [world.phone, world.slack]) {
      assert.equal(messages.length, 2);
      assert.deepEqual([messages[1]!.replyTo, messages[1]!.message.silent], ['1', false]);
    }
    assert.equal(world.phone.dots()[0], 'red', 'the card shows it as well');
    const [fix] = await world.fixes();
    assert.equal(severityOf(fix!), 'critical');
    assert.equal(fix!.spec.incident.severity, 'warning', 'the first one stays');
  });

  test('killed between the rise and its reply: still exactly one', async (t) => {
    const { world, onePod } = await aFailingProbe(t);
    await onePod('fails');
    await world.until('a card', () => world.phone.messages.length === 1, 240_000);
    await onePod('fails');
    await onePod('fails');
    await world.until('the rise', async () => severityOf((await world.fixes())[0]!) === 'critical', 60_000);
    world.kill();
    await world.advance(60_000);
    world.start();
    await world.until('a reply', () => world.phone.messages.length === 2, 60_000);
    await world.advance(300_000);
    assert.equal(world.phone.messages.length, 2, world.phone.text());
  });

  test('back to 2/3 and down again: no second reply within the episode', async (t) => {
    const { world, onePod } = await aFailingProbe(t);
    await onePod('fails');
    await world.until('a card', () => world.phone.messages.length === 1, 240_000);
    await onePod('fails');
    for (const probe of ['fails', 'passes', 'fails', 'passes'] as const) {
      await onePod(probe);
      await world.advance(60_000);
    }
    assert.equal(world.phone.messages.length, 2, world.phone.text());
    assert.equal(severityOf((await world.fixes())[0]!), 'critical', 'it does not fall while it is broken');
  });

  test('the operator says that it is a warning: then it is one, whatever the impact', async (t) => {
    const { world } = await aFailingProbe(t, { config: { classes: { ProbeFailing: { severity: 'warning' } } } });
    await losePods(world, 'web');
    await world.until('a card', () => world.phone.messages.length === 1, 240_000);
    await world.advance(300_000);
    assert.deepEqual(sounds(world), [false]);
    assert.equal(severityOf((await world.fixes())[0]!), 'warning');
  });

  test('a Job that gives up wants no pods: a warning', async (t) => {
    const world = await aWorld(t);
    world.start();
    await world.apply('Job', {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'once' },
      spec: {
        backoffLimit: 0,
        template: {
          metadata: { labels: { app: 'once' } },
          spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'shop/app:1-exit-1' }] },
        },
      },
    });
    await world.until('a card', () => world.phone.messages.length === 1, 240_000);
    assert.deepEqual((await world.fixes()).map(severityOf), ['warning']);
  });
});

describe('the same name within one episode is the same message', { concurrency: 3 }, () => {
  test('a quota that is deleted and created again: one message, about the new one', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'web');
    await tightQuota(world);
    await losePods(world, 'web');
    await world.until('a button', () => world.phone.has(/Delete quota/));
    await world.advance(120_000);
    await world.api.delete({ kind: 'ResourceQuota', namespace: 'shop', name: 'tight' });
    await tightQuota(world);
    const { uid } = (await world.api.get({ kind: 'ResourceQuota', namespace: 'shop', name: 'tight' }))!.metadata;
    await world.until('its successor', async () => (await world.fixes()).length === 2, 60_000);
    await world.until('the button', () => world.phone.has(/Delete quota/));
    await world.advance(300_000);
    const [first, second] = (await world.fixes()).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    assert.equal(phaseOf(first!), 'Superseded');
    assert.equal(second!.spec.incident.object.uid, uid);
    assert.equal(world.phone.messages.length, 1, world.phone.text());
    await world.phone.press(/Delete quota/);
    await world.until('the question', () => world.phone.has(/^Yes, delete/));
    await world.phone.press(/^Yes, delete/);
    await world.phase('Recovered', 120_000);
    await world.advance(300_000);
    assert.equal(world.phone.messages.length, 1);
    assert.deepEqual((await world.fixes()).map(phaseOf).sort(), ['Recovered', 'Superseded']);
  });

  for (const awayMs of [0, 20_000])
    test(`a Deployment that is deleted and, ${awayMs / 1000} s later, created again, still broken: one message`, async (t) => {
      const world = await aWorld(t);
      await untilAsked(world);
      await world.advance(90_000);
      await world.api.delete({ kind: 'Deployment', namespace: 'shop', name: 'checkout' });
      await world.advance(awayMs);
      await world.apply('Deployment', deployment('checkout', { image: 'shop/app:2-crash' }));
      await world.until('its successor', async () => (await world.fixes()).length === 2, 120_000);
      await world.advance(600_000);
      assert.equal(world.phone.messages.length, 1, world.phone.text());
      assert.equal(world.phone.dots()[0], 'red');
      assert.equal((await world.fixes()).length, 2);
    });

  test('rejected, then created again, and still broken: one message, that asks again', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    await world.phone.press(/Reject/);
    await world.phase('Rejected');
    await world.advance(90_000);
    await world.api.delete({ kind: 'Deployment', namespace: 'shop', name: 'checkout' });
    await world.apply('Deployment', deployment('checkout', { image: 'shop/app:2-crash' }));
    await world.until('its successor', async () => (await world.fixes()).length === 2, 120_000);
    await world.advance(300_000);
    assert.equal(world.phone.messages.length, 1, world.phone.text());
  });

  test('gone for longer, it is over; when it comes again and breaks, that is news', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    await world.api.delete({ kind: 'Deployment', namespace: 'shop', name: 'checkout' });
    await world.phase('Resolved', 120_000);
    await world.apply('Deployment', deployment('checkout', { image: 'shop/app:2-crash' }));
    await world.until('the second card', () => world.phone.messages.length === 2, 120_000);
    assert.equal(
      (await world.fixes()).some(({ spec }) => spec.follows),
      false,
    );
  });
});

describe('what was changed is always shown', { concurrency: 3 }, () => {
  const early = { notices: { coalesce: '60s', reminder: '0s' }, recovery: { stableFor: '5s' } };

  /** Approved with kubectl as soon as it is proposed, and over before anything is posted. */
  async function overBefore(world: World): Promise<void> {
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    const { metadata } = await world.phase('Proposed');
    const approval = { state: 'Approved', by: 'kubernetes-admin' };
    await world.api.patch({ kind: 'Remediation', namespace: 'shop', name: metadata.name }, 'merge', {
      spec: { approval },
    });
    await world.phase('Recovered');
    assert.deepEqual(world.phone.messages, [], 'nothing was posted yet');
  }

  test('approved with kubectl, and over before the first message: one message in its final state, silent', async (t) => {
    const world = await aWorld(t, { config: early });
    world.start();
    await overBefore(world);
    await world.until('a card', () => world.phone.messages.length === 1, 180_000);
    world.kill();
    world.start();
    await world.advance(600_000);
    assert.deepEqual([world.phone.messages.length, world.phone.dots(), sounds(world)], [1, ['green'], [false]]);
  });

  test('a chat that is new an hour later hears nothing of it', async (t) => {
    const world = await aWorld(t, { config: early });
    world.start();
    await overBefore(world);
    await world.until('a card', () => world.phone.messages.length === 1, 180_000);
    await world.advance(3_600_000);
    world.configure({ ...early, ...both });
    await world.advance(300_000);
    const [hello, ...others] = world.slack.messages;
    assert.deepEqual([world.phone.messages.length, hello?.message.cards[0]?.dot, others], [1, 'hello', []]);
  });

  test('once its Notice is gone with its record, it is not posted again', async (t) => {
    const world = await aWorld(t, { config: { ...early, retention: '10m' } });
    world.start();
    await overBefore(world);
    await world.until('its record to be gone', async () => (await world.fixes()).length === 0, 1_200_000);
    await world.advance(300_000);
    assert.equal(world.phone.messages.length, 1);
  });
});
