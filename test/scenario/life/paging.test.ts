import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { Channel } from '../../../src/channels/channel.ts';
import { createWebhook } from '../../../src/channels/webhook/webhook.ts';
import { webhooksIn } from '../../../src/config/escalation-schema.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { fakePagerDuty } from '../../support/fake-pagerduty.ts';
import { isRunning, rollOut } from './shop.ts';
import { aWorld, configWith } from './world.ts';

const minutes = (n: number): number => n * 60_000;

/** The real channel and a real server beside virtual time: `settled` waits for what is on its way. */
async function paged(t: TestContext) {
  const pagerDuty = await fakePagerDuty();
  const folder = mkdtempSync(join(tmpdir(), 'tapfix-paging-'));
  t.after(async () => {
    rmSync(folder, { recursive: true });
    await pagerDuty.close();
  });
  const files = { urlFile: join(folder, 'url'), routingKeyFile: join(folder, 'key') };
  writeFileSync(files.urlFile, pagerDuty.url);
  writeFileSync(files.routingKeyFile, 'R0123456789ABCDEF0123456789ABCDE');
  const config = { notices: {}, escalation: [{ after: '15m', webhook: { format: 'pagerduty', ...files } }] };
  const targets = webhooksIn(configWith(config).escalation);
  const channel = createWebhook({ targets: () => targets, clock: fakeClock() });
  const underWay = new Set<Promise<unknown>>();
  const noted = async <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work);
    return work.finally(() => underWay.delete(work));
  };
  const webhook: Channel = {
    ...channel,
    post: (...args) => noted(channel.post(...args)),
    edit: (...args) => noted(channel.edit(...args)),
  };
  const world = await aWorld(t, { config, webhook });
  const events = (): string[] => pagerDuty.accepted.map(({ event_action }) => event_action);
  async function until(count: number, mostMs: number): Promise<void> {
    const isThere = async (): Promise<boolean> => {
      await Promise.allSettled(underWay);
      return events().length >= count;
    };
    await world.until(`${count} events`, isThere, mostMs);
    await world.advance(2_000); // the Notice says so
  }
  return { world, pagerDuty, events, until };
}

describe('what nobody answers goes to PagerDuty', { concurrency: 2 }, () => {
  test('triggered, acknowledged and resolved once each, with one key, through restarts and refusals', async (t) => {
    const { world, pagerDuty, events, until } = await paged(t);
    const restart = (): void => {
      world.kill();
      world.start();
    };
    world.start();
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
    pagerDuty.trouble.push(503, 429, 302);
    await world.advance(minutes(14));
    assert.deepEqual([events(), pagerDuty.trouble.length], [[], 3]);
    restart();
    await until(1, minutes(10));
    assert.deepEqual(pagerDuty.trouble, []);
    restart();
    await world.advance(minutes(5));
    assert.deepEqual(events(), ['trigger']);
    await world.phone.press(/I'm on it/);
    await until(2, minutes(2));
    restart();
    await world.advance(minutes(1));
    await rollOut(world, 'checkout', 'shop/app:3');
    await until(3, minutes(10));
    restart();
    await world.advance(minutes(60));
    assert.deepEqual(events(), ['trigger', 'acknowledge', 'resolve']);
    assert.deepEqual(pagerDuty.refused, []);
    assert.equal(new Set(pagerDuty.accepted.map(({ dedup_key }) => dedup_key)).size, 1);
    assert.match(pagerDuty.accepted[0]!.payload!.summary, /^checkout is still down, 0\/2 ready, for \d+ min$/);
  });

  test('answered in time, or healthy again: nobody is paged', async (t) => {
    const { world, events } = await paged(t);
    world.start();
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
    await world.advance(minutes(10));
    await world.phone.press(/Roll back|Delete quota/);
    await world.phase('Recovered', 300_000);
    await world.advance(minutes(60));
    assert.deepEqual(events(), []);
  });
});
