import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isCleared } from '../../../src/kube/remediation.ts';
import { available, deployment, isRunning, rollOut, untilAsked } from './shop.ts';
import { aWorld, type World } from './world.ts';

/* The configuration changes while it runs: every kind of change, and what is said of it. */

const crashing = (name: string): object => deployment(name, { image: 'shop/app:1-crash', replicas: 1 });

/** Something that has been broken in another namespace for long. */
async function brokenIn({ api, advance }: World, namespace: string, name = 'ledger'): Promise<void> {
  await api.create({ kind: 'Namespace' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await api.create({ kind: 'Deployment', namespace }, crashing(name));
  await advance(120_000);
}

const include = (...names: string[]): object => ({ namespaces: { include: names } });
const ada = { approval: { approvers: [{ name: 'Ada', telegram: 111 }] } };
const titles = ({ phone }: World): (string | undefined)[] => phone.messages.map(({ message }) => message.title?.text);

describe('namespaces', { concurrency: 3 }, () => {
  for (const [what, before, after] of [
    ['by its name', include('shop'), include('shop', 'payments')],
    ['by a pattern, where patterns were', include('shop*'), include('shop*', 'pay*')],
    ['by a pattern, where only names were', include('shop'), include('shop', 'pay*')],
    ['by its name, where patterns were', include('shop*'), include('shop', 'payments')],
  ] as const)
    test(`one is added ${what}: its standing trouble is told once, and nothing else again`, async (t) => {
      const world = await aWorld(t, { config: before });
      await untilAsked(world);
      await brokenIn(world, 'payments');
      assert.equal(world.phone.messages.length, 1);
      world.configure(after);
      await world.until('its card', () => world.phone.messages.length === 2);
      assert.match(world.phone.headlines()[1]!, /^ledger (?:is (?:down|degraded)|keeps crashing)/);
      assert.deepEqual(titles(world), [undefined, undefined], 'nothing has started');
      await world.advance(600_000);
      assert.equal(world.phone.messages.length, 2, world.phone.text());
      assert.equal(world.phone.has(/Roll back/), true);
      await world.phone.press(/Roll back/);
      await world.phase('Recovered', 300_000);
      world.kill();
      world.start();
      await world.advance(300_000);
      assert.equal(world.phone.messages.length, 2, world.phone.text());
    });

  for (const [what, before, after] of [
    ['the last of its name', include('shop', 'other'), include('other')],
    ['out of a pattern', include('*'), { namespaces: { include: ['*'], exclude: ['shop'] } }],
    ['from all to a few names', include('*'), include('other')],
  ] as const)
    test(`one is removed, ${what}: left at once, its open card says so; back again it is the same card`, async (t) => {
      const world = await aWorld(t, { config: before });
      await untilAsked(world);
      const pressed = world.phone.keep(/Roll back/);
      world.configure(after);
      await world.until('the sentence', () => /shop is no longer watched/.test(world.phone.headlines()[0]!), 20_000);
      assert.equal(world.phone.headlines()[0], 'checkout: shop is no longer watched, nothing was changed');
      assert.deepEqual([world.phone.dots(), world.phone.has(/./)], [['grey'], false]);
      assert.match(await pressed(), /shop is no longer watched by tapfix; nothing was done/);
      await world.apply('Deployment', crashing('web'));
      await world.advance(600_000);
      assert.equal(world.phone.messages.length, 1, world.phone.text());
      world.configure(before);
      await world.until('the card again', () => world.phone.has(/Roll back/), 60_000);
      await world.until('what broke meanwhile', () => world.phone.messages.length === 2);
      await world.advance(300_000);
      assert.equal(world.phone.messages.length, 2, world.phone.text());
      await world.phone.press(/Roll back/);
      await world.phase('Recovered', 300_000);
    });

  test('removed while somebody waits for patience: not told', async (t) => {
    const world = await aWorld(t, { config: include('shop', 'other') });
    world.start();
    await world.advance(10_000);
    await world.apply('Deployment', crashing('web'));
    await world.advance(20_000);
    world.configure(include('other'));
    await world.advance(300_000);
    assert.deepEqual(world.phone.history, []);
  });

  test('removed when it is recorded and waits to be told: not told, on no channel', async (t) => {
    const slow = { notices: { coalesce: '60s' } };
    const world = await aWorld(t, { config: { ...include('shop', 'other'), ...slow } });
    world.start();
    await world.advance(10_000);
    await world.apply('Deployment', crashing('web'));
    await world.until('its record', async () => (await world.fixes()).length === 1);
    const both = { channels: { telegram: { chat: -1001 }, slack: { channel: 'C0123456789' } } };
    world.configure({ ...include('other'), ...slow, ...both });
    await world.advance(300_000);
    assert.deepEqual([world.phone.history, world.slack.history], [[], []]);
  });

  test('removed, and healed while nobody watched: not a word until it is back, and then how it ended', async (t) => {
    const world = await aWorld(t, { config: include('shop', 'other') });
    await untilAsked(world);
    world.configure(include('other'));
    await rollOut(world, 'checkout', 'shop/app:3');
    await world.advance(300_000);
    assert.equal((await world.fixes()).some(isCleared), false, 'nobody looked');
    assert.match(world.phone.headlines()[0]!, /shop is no longer watched/);
    world.configure(include('shop', 'other'));
    await world.until('its end', () => /is healthy again/.test(world.phone.headlines()[0]!));
    assert.equal(world.phone.messages.length, 1);
  });

  test('removed while a fix is being applied: that is seen to its end, in the same message', async (t) => {
    const world = await aWorld(t, { config: include('shop', 'other') });
    await untilAsked(world);
    await world.phone.press(/Roll back/);
    await world.phase('Applied');
    world.configure(include('other'));
    await world.phase('Recovered', 300_000);
    await world.until('green', () => world.phone.dots()[0] === 'green');
    assert.equal(await available(world, 'checkout'), true);
    assert.equal(world.phone.messages.length, 1);
  });
});

describe('what is worth telling', { concurrency: 3 }, () => {
  const off = { classes: { CrashLoop: { enabled: false }, RolloutStuck: { enabled: false }, ProbeFailing: { enabled: false } } }; // prettier-ignore
  const ignoring = { ignore: [{ name: 'web' }] };
  for (const [what, over] of [
    ['a class is switched off', off],
    ['a rule ignores it', ignoring],
  ] as const)
    test(`${what} during its patience: not told; and once it is wanted again, told once`, async (t) => {
      const world = await aWorld(t);
      world.start();
      await world.advance(10_000);
      await world.apply('Deployment', crashing('web'));
      await world.advance(20_000);
      world.configure(over);
      await world.advance(300_000);
      assert.deepEqual(world.phone.history, []);
      world.configure({});
      await world.until('a card', () => world.phone.messages.length === 1);
      await world.advance(600_000);
      assert.equal(world.phone.messages.length, 1, world.phone.text());
    });

  test('more patience: what waits has to wait longer', async (t) => {
    const world = await aWorld(t);
    world.start();
    await world.advance(10_000);
    await world.apply('Deployment', crashing('web'));
    await world.advance(20_000);
    world.configure({ classes: { CrashLoop: { for: '5m' } } });
    await world.advance(120_000);
    assert.deepEqual(world.phone.history, []);
    await world.until('a card', () => world.phone.messages.length === 1, 300_000);
  });
});

describe('who may decide, and what', { concurrency: 3 }, () => {
  test('approvers: the buttons of open cards go and come, in the same message', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    world.configure({ approval: { approvers: [] } });
    await world.until('no button', () => !world.phone.has(/./), 20_000);
    assert.match(world.phone.text(), /Nobody is listed to approve in shop/);
    world.configure(ada);
    await world.until('buttons', () => world.phone.has(/Roll back/), 20_000);
    assert.equal(world.phone.messages.length, 1);
    await world.phone.press(/Roll back/);
    await world.phase('Recovered', 300_000);
  });

  test('an approver who was taken off the list is refused at once', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    const pressed = world.phone.keep(/Roll back/);
    world.configure({ approval: { approvers: [{ name: 'Ben', telegram: 222 }] } });
    assert.match(await pressed(), /not on the approvers' list/);
  });

  test('actions: an open card says that it is switched off, and it is not done', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    const pressed = world.phone.keep(/Roll back/);
    world.configure({ actions: { allow: ['DeletePod'] } });
    assert.match(await pressed(), /switched off in the configuration; nothing was done/);
    await world.until('no Approve', () => !world.phone.has(/Roll back|Delete quota/), 20_000);
    assert.match(world.phone.text(), /RolloutUndo is switched off in the configuration/);
    assert.equal(world.phone.messages.length, 1);
  });
});

describe('where it is told', { concurrency: 3 }, () => {
  const both = { channels: { telegram: { chat: -1001 }, slack: { channel: 'C0123456789' } } };
  test('another chat: what is open stays where it is, what is new goes there', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    const routes = [{ namespaces: ['shop'], chat: -2002 }];
    world.configure({ channels: { telegram: { chat: -1001, routes } } });
    await world.advance(120_000);
    assert.equal(world.phone.messages.length, 1);
    await world.apply('Deployment', crashing('web'));
    await world.until('a card', () => world.phone.messages.length === 2);
    await world.advance(60_000);
    assert.deepEqual(
      world.phone.messages.map(({ chat }) => chat),
      ['-1001', '-2002'],
    );
    assert.equal(world.phone.has(/Roll back/), true);
  });

  test('another chat, because nothing arrives in the first: what waited there is told in the new one, once', async (t) => {
    const world = await aWorld(t);
    world.phone.refusing.add('-1001');
    world.start();
    await world.advance(10_000);
    await world.apply('Deployment', crashing('web'));
    await world.advance(120_000);
    assert.equal(world.phone.messages.length, 0);
    world.configure({ channels: { telegram: { chat: -2002 } } });
    await world.until('a card', () => world.phone.messages.length === 1);
    world.phone.refusing.clear();
    await world.advance(300_000);
    assert.deepEqual(
      world.phone.messages.map(({ chat }) => chat),
      ['-2002'],
    );
  });

  test('a channel is added: what is open is told there once, and decided from either', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    world.configure(both);
    await world.until('a card on Slack', () => world.slack.messages.length === 1);
    await world.advance(120_000);
    await world.phone.press(/Roll back/);
    await world.phase('Recovered', 300_000);
    await world.until('green on both', () => world.phone.dots()[0] === 'green' && world.slack.dots()[0] === 'green');
    assert.deepEqual([world.phone.messages.length, world.slack.messages.length], [1, 1]);
  });

  test('a channel is removed: its open card says so, the other one goes on', async (t) => {
    const world = await aWorld(t, { config: both });
    await untilAsked(world);
    await world.until('a card on Slack', () => world.slack.messages.length === 1);
    world.configure({});
    await world.until('the sentence', () => /tapfix no longer writes here/.test(world.slack.headlines()[0]!), 20_000);
    assert.equal(world.slack.has(/./), false);
    await world.advance(120_000);
    const said = world.slack.history.length;
    await rollOut(world, 'checkout', 'shop/app:3');
    await world.until('grey', () => world.phone.dots()[0] === 'grey', 300_000);
    await world.advance(60_000);
    assert.equal(world.slack.history.length, said, 'nothing more is written there');
    assert.deepEqual([world.phone.messages.length, world.slack.messages.length], [1, 1]);
  });

  test('limits: a longer window gathers what a shorter one would have told apart', async (t) => {
    const world = await aWorld(t);
    world.start();
    await world.advance(10_000);
    world.configure({ notices: { coalesce: '60s' } });
    await world.apply('Deployment', crashing('web'));
    await world.advance(15_000);
    await world.apply('Deployment', crashing('api'));
    await world.until('a message', () => world.phone.messages.length === 1, 300_000);
    assert.equal(world.phone.headlines().length, 2, world.phone.text());
  });
});

test('a configuration that is refused is said once, and its end in the same message', async (t) => {
  const world = await aWorld(t);
  world.start();
  await isRunning(world, 'checkout');
  world.refuse('approval.approvers[1].telegram must be a number (line 31)');
  await world.until('the sentence', () => world.phone.messages.length === 1);
  assert.equal(
    world.phone.headlines()[0],
    'Configuration change refused, the old one stays: approval.approvers[1].telegram must be a number (line 31)',
  );
  await world.advance(900_000);
  assert.equal(world.phone.history.length, 1);
  world.refuse(undefined);
  await world.until('its end', () => /changed again/.test(world.phone.headlines()[0]!));
  await world.advance(300_000);
  assert.equal(world.phone.messages.length, 1);
  world.refuse('cluster is missing (line 1)');
  await world.until('another', () => world.phone.messages.length === 2);
});
