import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfirms } from '../../../../src/approvals/confirms.ts';
import type { Channel, ChannelName } from '../../../../src/channels/channel.ts';
import type { Notice } from '../../../../src/kube/notice.ts';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import { fakeServer } from '../../../support/fake-api.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { aConfig, aFix, approvedByAda, at, condition } from '../../../support/fixes.ts';
import { storedOutbox } from '../../../support/stores.ts';
import { silentLog } from '../desk.ts';

/*
 * The outbox is killed before and after every write of its own and every call of the vendor's, one after the other, and
 * started again: whatever the moment, all is told, and once. The boundaries are counted in a run without a kill, so
 * that a new write gets its cases by itself.
 */

interface Ended {
  boundaries: string[];
  /** Posted, and no Notice said so yet, at the moment of the kill: the one window in which a message may come twice. */
  wasInWindow: boolean;
  repeated: number;
}

const resolved = (fix: Remediation): Remediation => ({
  ...fix,
  status: { ...fix.status!, phase: 'Resolved', conditions: [condition('Resolved', '02:20:00')] },
});

async function theStory(killAt: number | undefined): Promise<Ended> {
  const clock = fakeClock(Date.parse(at('02:12:40')));
  const server = fakeServer(clock);
  server.seed('Namespace', undefined, { metadata: { name: 'tapfix' } });
  const config = aConfig();
  const fixes = new Map<string, Remediation>();
  const boundaries: string[] = [];
  const posts = new Map<string, number>(); // of each Notice, by its first member
  const shown = new Map<string, string>();
  let wasInWindow = false;
  const notices = (): Notice[] => structuredClone(server.list('Notice')) as unknown as Notice[];
  const isUnknown = (first: string): boolean =>
    notices().some(({ spec, status }) => spec.members[0]?.uid === first && !status?.message);
  const never = new Promise<never>(() => undefined);

  function start() {
    const stop = new AbortController();
    let dead = false;
    const boundary = async (name: string): Promise<void> => {
      if (dead) await never;
      boundaries.push(name);
      if (boundaries.length !== killAt) return;
      dead = true;
      wasInWindow = [...posts.keys()].some(isUnknown);
      await never;
    };
    const api = server.client({
      before: ({ verb, kind, subresource = '' }) => boundary(`before ${verb} ${kind}${subresource}`),
      after: ({ verb, kind, subresource = '' }) => boundary(`after ${verb} ${kind}${subresource}`),
    });
    const channel: Channel = {
      name: 'telegram',
      async post(place, message) {
        await boundary('before the post');
        const first = (place as Notice['spec']).members[0]!.uid;
        posts.set(first, (posts.get(first) ?? 0) + 1);
        const id = `${first} ${posts.get(first)}`;
        shown.set(id, message.cards[0]!.headline);
        await boundary('after the post');
        return id;
      },
      async edit(_place, id, message) {
        await boundary('before the edit');
        shown.set(id, message.cards[0]!.headline);
        await boundary('after the edit');
      },
      run: async () => {},
      health: () => ({ ok: true, detail: '' }),
    };
    const outbox = storedOutbox({
      api,
      clock,
      log: silentLog,
      current: () => config,
      channels: () => new Map<ChannelName, Channel>([['telegram', channel]]),
      namespace: 'tapfix',
      timeZone: 'UTC',
      confirms: createConfirms({ clock, signal: stop.signal }),
      signal: stop.signal,
    });
    outbox.onNotices(notices());
    outbox.onFixes(structuredClone([...fixes.values()]));
    return { outbox, isDead: () => dead, end: () => ((dead = true), stop.abort()) };
  }

  let process = start();
  async function pass(seconds: number): Promise<void> {
    for (let n = 0; n < seconds; n++) {
      await clock.advance(1_000);
      if (process.isDead()) {
        process.end();
        await clock.advance(2_000);
        process = start();
      }
    }
  }
  function put(...some: Remediation[]): void {
    for (const fix of some) {
      fixes.set(fix.metadata.uid, fix);
      process.outbox.onFix({ type: 'upsert', view: structuredClone(fix) });
    }
  }
  const many = (from: number, count: number): Remediation[] =>
    Array.from({ length: count }, (_, n) => {
      const fix = aFix({ n: from + n, name: `svc-${from + n}` });
      return { ...fix, metadata: { ...fix.metadata, creationTimestamp: new Date(clock.now()).toISOString() } };
    });

  const checkout = aFix();
  put(checkout);
  await pass(10);
  put(aFix({ n: 2, spec: { follows: { name: checkout.metadata.name, uid: checkout.metadata.uid } } }));
  await pass(5);
  put(
    aFix({
      n: 2,
      approval: approvedByAda,
      spec: { follows: { name: checkout.metadata.name, uid: checkout.metadata.uid }, approval: approvedByAda },
    }),
  );
  await pass(60);
  const storm = many(10, 12);
  put(...storm);
  await pass(7);
  put(...many(30, 8));
  await pass(60);
  put(...storm.map(resolved));
  await pass(40);
  for (const fix of [...fixes.values()].filter(({ spec }) => spec.incident.object.name === 'checkout')) {
    fixes.delete(fix.metadata.uid);
    process.outbox.onFix({ type: 'gone', namespace: 'shop', name: fix.metadata.name, uid: fix.metadata.uid });
  }
  await pass(90);

  for (const [uid, { metadata }] of fixes) {
    const holding = notices().filter(({ spec }) => spec.members.some((member) => member.uid === uid));
    assert.deepEqual(
      holding.map(({ status }) => status?.message !== undefined),
      [true],
      `${metadata.name} is told once`,
    );
  }
  const [left] = notices();
  assert.equal(notices().length, 1, 'the Notice of what is gone is gone');
  assert.match(shown.get(left!.status!.message!)!, /^20 incidents in one minute, prod-eu; 8 still broken$/);
  process.end();
  return { boundaries, wasInWindow, repeated: [...posts.values()].reduce((sum, times) => sum + times - 1, 0) };
}

const clean = await theStory(undefined);

test('the story has every write of the outbox in it', () => {
  assert.equal(clean.repeated, 0);
  for (const what of ['create Notice', 'patch Notice', 'patch Noticestatus', 'delete Notice', 'the post', 'the edit'])
    for (const when of ['before', 'after'])
      assert.ok(clean.boundaries.includes(`${when} ${what}`), `${when} ${what}: ${clean.boundaries.join('\n')}`);
});

test('killed at any of them, it tells everything once, but for the window between the vendor’s answer and our patch', async () => {
  let windows = 0;
  let repeated = 0;
  for (const [index, boundary] of clean.boundaries.entries()) {
    const ended = await theStory(index + 1).catch((error: unknown) => {
      throw new Error(`killed ${boundary} (${index + 1}): ${String(error)}`, { cause: error });
    });
    assert.ok(
      ended.repeated <= (ended.wasInWindow ? 1 : 0),
      `killed ${boundary} (${index + 1}): repeated ${ended.repeated}`,
    );
    if (ended.wasInWindow) windows += 1;
    repeated += ended.repeated;
  }
  console.log(`${clean.boundaries.length} boundaries, ${windows} in the window, ${repeated} messages repeated, 0 lost`);
  assert.equal(windows, 4, 'of two messages: after the post, and before the patch');
});
