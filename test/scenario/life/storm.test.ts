import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleText } from '../../../src/channels/console/console-text.ts';
import { phaseOf } from '../../../src/kube/remediation.ts';
import { deployment, rollOut } from './shop.ts';
import { aWorld } from './world.ts';

/* A registry that went away, a library that everybody uses: more at once than anybody reads one by one. */

const count = 24;
const names = Array.from({ length: count }, (_, n) => `svc-${String(n + 1).padStart(3, '0')}`);

test('two dozen workloads fail within ten seconds: one message, and every one of them can be decided from it', async (t) => {
  const world = await aWorld(t, { nodes: 4 });
  const { phone } = world;
  world.start();
  for (const name of names) await world.apply('Deployment', deployment(name, { replicas: 3 }));
  await world.advance(120_000);
  assert.deepEqual(phone.messages, [], 'nothing is wrong yet');

  for (const name of names) {
    await rollOut(world, name, 'shop/app:2-image-missing');
    await world.advance(10_000 / count);
  }
  await world.until('a message', () => phone.calls() > 0);
  await world.advance(60_000);
  assert.ok(phone.calls() <= 3, `${phone.calls()} calls:\n${phone.history.join('\n')}`);
  await world.advance(60_000);
  assert.equal(phone.messages.length, 1, phone.text());
  assert.match(phone.headlines()[0]!, new RegExp(`^${count} incidents in one minute, sim$`));

  const approved = [names[0]!, names[count / 2]!, names[count - 1]!];
  await phone.press(/^Show all$/);
  const found = new Set<string>();
  for (;;) {
    const [list] = phone.lists;
    const labels = list!.message.buttons!.flat().map(({ label }) => label);
    const offered = list!.message.cards
      .map(({ headline }) => headline.split(' ') as [string, string])
      .filter(([number]) => labels.includes(`${number} Roll back`));
    for (const [, name] of offered) found.add(name);
    for (const [number] of offered.filter(([, name]) => approved.includes(name))) {
      assert.match(await phone.press(new RegExp(`^${number} Roll back`)), /^Really /);
      assert.match(
        consoleText(phone.lists[0]!.message, () => ''),
        /shop\/app:2-image-missing → shop\/app:1/,
      );
      assert.equal(await phone.press(/^Yes, /), 'Approved; it starts now.');
    }
    if (!list!.message.buttons!.flat().some(({ label }) => label.startsWith('Next'))) break;
    await phone.press(/^Next/);
  }
  assert.deepEqual([...found].sort(), names);
  assert.equal(phone.lists.length, 1, 'it turns in place');

  await world.advance(120_000);
  const recovered = (await world.fixes()).filter((fix) => phaseOf(fix) === 'Recovered');
  assert.deepEqual(recovered.map(({ spec }) => spec.incident.object.name).sort(), approved);
  assert.match(phone.headlines()[0]!, /; 21 still broken$/);
});
