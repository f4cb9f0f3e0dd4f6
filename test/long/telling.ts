import assert from 'node:assert/strict';
import { createConfirms } from '../../src/approvals/confirms.ts';
import type { Channel, ChannelName } from '../../src/channels/channel.ts';
import type { Config } from '../../src/config/schema.ts';
import { ApiError, Unreachable } from '../../src/kube/api.ts';
import type { Notice } from '../../src/kube/notice.ts';
import type { Remediation } from '../../src/kube/remediation.ts';
import { RetryLater } from '../../src/lib/errors.ts';
import { nameOfNotice } from '../../src/notices/outbox/notice-body.ts';
import { fakeServer } from '../support/fake-api.ts';
import { storedOutbox } from '../support/stores.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { aConfig, aFix, at, condition, uidOf } from '../support/fixes.ts';
import { silentLog } from '../unit/notices/desk.ts';
import type { Random } from './random.ts';

/** A kill between the vendor's taking a message and the one patch that says so may repeat that message, and no other. */
export interface Ending {
  fixes: number;
  messages: number;
  windows: number;
  repeated: number;
  kills: number;
  /** With a vendor down. */
  killsInOutage: number;
  outages: number;
  /** Of five minutes or more. */
  longOutages: number;
  faults: number;
  /** Messages that told of a storm. */
  storms: number;
}

const withReady = (fix: Remediation, ready: number): Remediation => ({
  ...fix,
  status: { ...fix.status, sightings: { ...fix.status!.sightings!, ready } },
});

/** Two vendors, each with outages of its own. */
const vendors = ['telegram', 'slack'] as const;
const channelsOf = (): Config['channels'] => ({
  telegram: { chat: '-100500', routes: [], apiRoot: '' },
  slack: { channel: 'C0123456789', routes: [], apiUrl: '' },
});

const never = new Promise<never>(() => undefined);

export async function tellThrough(random: Random): Promise<Ending> {
  const clock = fakeClock(Date.parse(at('02:12:40')));
  const server = fakeServer(clock);
  server.seed('Namespace', undefined, { metadata: { name: 'tapfix' } });
  const config = aConfig({ channels: channelsOf() });
  const fixes = new Map<string, Remediation>();
  const posted = new Map<string, { by: object; times: number }>(); // by a Notice's name: which process posted it last
  const wrong: string[] = [];
  const shownBy = new Map<string, { name: string; headlines: string[] }>(); // by message id
  const ending: Ending = { fixes: 0, messages: 0, windows: 0, repeated: 0, kills: 0, killsInOutage: 0, outages: 0, longOutages: 0, faults: 0, storms: 0 }; // prettier-ignore
  const chaosEndsMs = clock.now() + random.int(60_000, random.chance(0.1) ? 900_000 : 300_000);
  const isChaos = (): boolean => clock.now() < chaosEndsMs;

  const notices = (): Notice[] => structuredClone(server.list('Notice')) as unknown as Notice[];
  const isPosted = (name: string): boolean =>
    (server.get('Notice', 'tapfix', name) as Notice | undefined)?.status?.message !== undefined;
  const outageUntilMs = { telegram: 0, slack: 0 };
  const isDown = (vendor: (typeof vendors)[number]): boolean => clock.now() < outageUntilMs[vendor];
  const probability = random.pick([0, 0.03, 0.15]);
  const errors = [
    new Unreachable('connection reset'),
    new ApiError('etcd leader changed', 500, 'InternalError'),
    new ApiError('slow down', 429, 'TooManyRequests'),
  ];
  const fails = (): boolean => isChaos() && random.chance(probability) && ++ending.faults > 0;
  server.hooks.before = () => {
    if (fails()) throw random.pick(errors);
  };
  /** What the watch has still to tell, in order. */
  const untold: Notice[] = [];
  server.hooks.after = ({ kind, verb, name }) => {
    const view = kind === 'Notice' && verb !== 'get' && server.get('Notice', 'tapfix', name!);
    if (view) untold.push(structuredClone(view) as unknown as Notice);
    if (fails()) throw new Unreachable('connection reset after it was done');
  };

  function start() {
    const stop = new AbortController();
    /** Nothing that it does arrives any more, and no answer comes. */
    let dead = false;
    let callsLeft = random.chance(0.5) ? random.int(1, 40) : Infinity;
    const mayDie = async (): Promise<void> => {
      if (--callsLeft <= 0 && isChaos()) dead = true;
      if (dead) await never;
    };
    const api = server.client({ before: mayDie, after: mayDie });
    async function call(vendor: (typeof vendors)[number], work: () => string): Promise<string> {
      await mayDie();
      if (dead) return never; // killed meanwhile
      if (isDown(vendor)) throw random.pick([new RetryLater('down', 5_000), new Error('refused')]);
      const id = work();
      await mayDie();
      return id;
    }
    /** Again only if whoever posted it was killed before any Notice said so. */
    function noted({ members: [first], form, ...address }: Notice['spec']): string {
      const name = nameOfNotice(address, form, first!.uid);
      const before = posted.get(name);
      if (before?.by === stop) wrong.push(`${first!.name} twice by one process in ${address.channel}`);
      if (before && isPosted(name))
        wrong.push(`${first!.name} again in ${address.channel}, though its Notice says it was posted`);
      posted.set(name, { by: stop, times: (before?.times ?? 0) + 1 });
      ending.messages += 1;
      return name;
    }
    const channel = (vendor: (typeof vendors)[number]): Channel => ({
      name: vendor,
      post: (place, message) =>
        call(vendor, () => {
          const name = noted(place as Notice['spec']);
          const id = String(4_710 + ending.messages);
          shownBy.set(id, { name, headlines: message.cards.map(({ headline }) => headline) });
          return id;
        }),
      edit: async (_place, id, message) =>
        void (await call(vendor, () => {
          shownBy.get(id)!.headlines = message.cards.map(({ headline }) => headline);
          return id;
        })),
      run: async () => {},
      health: () => ({ ok: true, detail: '' }),
    });
    const channels = new Map<ChannelName, Channel>(vendors.map((vendor) => [vendor, channel(vendor)]));
    const outbox = storedOutbox({
      api,
      clock,
      log: silentLog,
      current: () => config,
      channels: () => channels,
      namespace: 'tapfix',
      timeZone: 'UTC',
      confirms: createConfirms({ clock, signal: stop.signal }),
      signal: stop.signal,
    });
    outbox.onNotices(notices());
    outbox.onFixes(structuredClone([...fixes.values()]));
    return { outbox, id: stop, isDead: () => dead, kill: () => ((dead = true), stop.abort()) };
  }

  /** What this process posted and no Notice says: what a kill at this moment makes the next one repeat. */
  const openWindows = (): number => [...posted].filter(([name, { by }]) => by === process.id && !isPosted(name)).length;

  let process = start();
  /** The watches, late: each change in its order, and now and then a whole list. */
  let silentUntilMs = 0;
  function deliver(): void {
    if (isChaos() && random.chance(0.05)) silentUntilMs = clock.now() + random.int(1_000, 30_000);
    if (clock.now() < silentUntilMs) return;
    if (random.chance(0.1)) return relist();
    for (const view of untold.splice(0, random.int(0, untold.length)))
      process.outbox.onNotice({ type: 'upsert', view });
  }
  function relist(): void {
    untold.length = 0;
    process.outbox.onNotices(notices());
  }
  function put(fix: Remediation): void {
    fixes.set(fix.metadata.uid, fix);
    process.outbox.onFix({ type: 'upsert', view: structuredClone(fix) });
  }

  const wanted = random.int(1, 25);
  const stormsFrom = random.chance(0.4) ? random.int(1, wanted) : Infinity;
  const closed = new Set<string>();
  const breakOne = (): void =>
    put(
      aFix({
        n: ++ending.fixes,
        name: `svc-${ending.fixes}`,
        incident: { severity: random.pick(['critical', 'warning']) },
      }),
    );
  while (isChaos() || ending.fixes < wanted) {
    if (ending.fixes < wanted && random.chance(0.4)) breakOne();
    const isBurst = ending.fixes >= stormsFrom && ending.fixes < wanted + 60 && random.chance(0.3);
    for (let n = isBurst ? random.int(5, 30) : 0; n > 0; n--) breakOne();
    const one = random.int(1, Math.max(wanted, ending.fixes));
    if (fixes.has(uidOf(one)) && random.chance(0.05)) {
      closed.add(uidOf(one));
      put(aFix({ n: one, name: `svc-${one}`, phase: 'Resolved', conditions: [condition('Resolved', '02:20:00')] }));
    }
    const open = fixes.get(uidOf(one));
    if (open && !closed.has(uidOf(one)) && random.chance(0.1)) put(withReady(open, random.int(0, 3)));
    if (isChaos() && random.chance(0.04)) {
      const lastsMs = random.int(1_000, random.chance(0.2) ? 600_000 : 60_000);
      outageUntilMs[random.pick(vendors)] = clock.now() + lastsMs;
      ending.outages += 1;
      if (lastsMs >= 300_000) ending.longOutages += 1;
    }
    for (let n = random.int(1, 5); n > 0; n--) {
      await clock.advance(random.int(0, 1_000));
      deliver();
    }
    if (process.isDead() || (isChaos() && random.chance(0.05))) {
      process.kill();
      ending.kills += 1;
      if (vendors.some(isDown)) ending.killsInOutage += 1;
      ending.windows += openWindows();
      await clock.advance(random.int(0, 20_000));
      untold.length = 0;
      process = start();
    }
  }
  while (vendors.some(isDown)) await clock.advance(30_000);
  for (let n = 0; n < 40; n++) {
    await clock.advance(5_000);
    relist();
  }
  await clock.advance(15 * 60_000); // counts follow slowly

  const all = notices();
  for (const [uid, { metadata }] of fixes)
    for (const vendor of vendors) {
      const here = all.filter(({ spec }) => spec.channel === vendor);
      const holding = here.filter(({ spec }) => spec.members.some((member) => member.uid === uid));
      const isTold = holding.length === 1 && holding[0]!.status?.message !== undefined;
      const what = `${metadata.name} is in ${holding.length} messages in ${vendor}, posted: ${isTold}`;
      assert.ok(isTold || (closed.has(uid) && holding.length <= 1), what);
    }
  ending.storms = all.filter(({ spec }) => spec.form === 'storm').length;
  for (const { times } of posted.values()) ending.repeated += times - 1;
  assert.deepEqual(wrong, []);
  assert.ok(ending.repeated <= ending.windows, `${ending.repeated} repeated, ${ending.windows} windows`);
  // The message that a Notice knows is the one that is kept up to date.
  for (const { metadata, spec, status } of all) {
    const shown = shownBy.get(status!.message!)!;
    assert.equal(shown.name, metadata.name);
    if (spec.members.length > 1 || spec.form === 'storm') continue;
    const { uid } = spec.members[0]!;
    const { ready = 0 } = fixes.get(uid)!.status!.sightings!;
    const broken =
      ready === 0 ? 'is down, 0/3 ready' : ready < 3 ? `is degraded, ${ready}/3 ready` : 'keeps crashing, 3/3 ready';
    assert.match(shown.headlines[0]!, closed.has(uid) ? /healthy/ : new RegExp(broken));
  }
  process.kill();
  return ending;
}
