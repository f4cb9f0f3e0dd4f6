import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Press } from '../../../../src/channels/channel.ts';
import { appToken, refusal, startFakeSlack, tooManyRequests } from '../../../support/fake-slack.ts';
import { hurriedClock } from '../../../support/hurried-clock.ts';
import { aChannel, card, patient, place, until } from '../slack-rig.ts';

const ok: Answer = { say: 'ok', alert: false };
const kinds = (lines: { fields: { kind?: string } }[]): string[] => lines.flatMap(({ fields }) => fields.kind ?? []);

test('a press during the refresh of one socket arrives on the other one', async (t) => {
  const { fake, run, said } = await aChannel(t);
  const presses: Press[] = [];
  await run(async (press) => (presses.push(press), ok));
  fake.refresh(0);
  const press = fake.press('a:data');
  assert.notEqual(press, undefined, 'nobody was there to hear it');
  await until('the press', () => presses.length === 1 && fake.acks(press!).length === 1);
  await until('the new socket', () => fake.count() === 2);
  assert.deepEqual(said(), [], 'a refresh is nothing to speak of');
});

test('a refreshed socket is back at once, although Slack leaves the old connection open', async (t) => {
  const { fake, run, clock } = await aChannel(t);
  await run();
  await clock.sleep(6_000); // more than the shortest life
  for (let n = 0; n < 2; n++) {
    const slept = clock.slept.length;
    const startMs = clock.now();
    fake.refresh(0, 'warning'); // the older one
    await until('the new socket', () => fake.count() === 2);
    assert.ok(clock.now() - startMs < 200_000, `it took ${clock.now() - startMs} ms`);
    assert.ok(!clock.slept.slice(slept).includes(1_000), 'no back-off');
  }
});

test('one of the two is renewed once early, so that Slack does not end both at the same time', async (t) => {
  const patience = { ...patient, helloMs: 500_000_000 }; // of the hurried clock: a busy machine may greet late
  const clock = hurriedClock(1_000);
  const { fake, run, said } = await aChannel(t, { clock, patience });
  await run();
  let fewest = 2;
  const isRenewed = (): boolean => ((fewest = Math.min(fewest, fake.count())), fake.opened() === 3);
  await until('the renewal', isRenewed);
  assert.ok(fewest >= 1, 'the other one stays');
  await clock.sleep(1_500_000); // longer than until the first renewal
  assert.equal(fake.opened(), 3);
  assert.deepEqual(said(), []);
});

test('more sockets than ours, two minutes apart, are a sign of somebody else; fewer later end it', async (t) => {
  const { fake, channel, run, clock } = await aChannel(t);
  const renewed = async (): Promise<void> => {
    await clock.sleep(130_000);
    const opened = fake.opened();
    fake.refresh(0);
    await until('the new socket', () => fake.opened() > opened && fake.count() === 2);
  };
  await run();
  await renewed();
  assert.equal(channel.sharedSinceMs?.(), undefined);
  fake.share(2);
  await renewed();
  assert.equal(channel.sharedSinceMs?.(), undefined, 'the pod before us may still be counted');
  await renewed();
  await until('the sign', () => channel.sharedSinceMs?.() !== undefined);
  fake.share(0);
  await renewed();
  await until('its end', () => channel.sharedSinceMs?.() === undefined);
});

test('a socket that breaks during the press: handled once, and once more acknowledged when Slack repeats it', async (t) => {
  const { fake, run } = await aChannel(t);
  let presses = 0;
  let release: (() => void) | undefined;
  await run(async () => {
    presses += 1;
    await new Promise<void>((resolve) => (release = resolve));
    return ok;
  });
  const press = fake.press('a:data', { via: 0 })!;
  await until('the press', () => release !== undefined);
  fake.drop(0);
  fake.redeliver(press, 0); // the other one is now the only one
  release?.();
  await until('its acknowledgement', () => fake.acks(press).length === 1);
  assert.equal(presses, 1);
  await until('the new socket', () => fake.count() === 2);
});

test('a socket that no longer answers pings is given up and replaced', async (t) => {
  const { fake, run } = await aChannel(t, { patience: { ...patient, pongMs: 500 } });
  await run();
  fake.goDeaf(0);
  await until('a third socket', () => fake.opened() === 3);
});

test('a handshake that is never answered is not waited for', async (t) => {
  const patience = { ...patient, handshakeMs: 400 };
  const { fake, channel, start, lines } = await aChannel(t, { patience });
  fake.behave('no answer');
  start();
  await until('trouble', () => lines.length === 1);
  assert.match(channel.health().detail, /cannot be reached \(no answer\)/);
  fake.behave('usual');
  await until('sockets', () => fake.count() === 2 && channel.health().ok);
  await until('the good news', () => lines.at(-1)!.message === 'slack works again');
});

test('a hello that never comes is not waited for', async (t) => {
  const patience = { ...patient, helloMs: 30_000 };
  const { fake, channel, start, lines } = await aChannel(t, { patience });
  fake.behave('no hello');
  start();
  await until('trouble', () => lines.length === 1);
  assert.match(channel.health().detail, /did not greet/);
  fake.behave('usual');
  await until('sockets', () => fake.count() === 2 && channel.health().ok);
});

test('the app token is refused: said once, back-off up to 30 s, and a new one is used', async (t) => {
  const mounted = { token: 'xapp-wrong-wrong-wrong' };
  const { fake, channel, start, lines, clock } = await aChannel(t, { appToken: async () => mounted.token });
  start();
  await until('seven tries', () => clock.slept.filter((ms) => ms === 30_000).length >= 2);
  assert.match(channel.health().detail, /refused the app token \(invalid_auth\)/);
  mounted.token = appToken;
  await until('sockets', () => fake.count() === 2);
  await until('the good news', () => lines.length === 2);
  assert.deepEqual(
    lines.map(({ message, fields }) => [message, fields.kind]),
    [
      ['slack does not work', 'TokenRefused'],
      ['slack works again', undefined],
    ],
  );
  assert.ok(!JSON.stringify(lines).includes('xapp'));
  const pauses = clock.slept.filter((ms) => [1_000, 2_000, 4_000, 8_000, 16_000].includes(ms));
  assert.deepEqual(new Set(pauses), new Set([1_000, 2_000, 4_000, 8_000, 16_000]));
});

test('an app token revoked in the middle of its life: said, waited for, and posts go on', async (t) => {
  const { fake, channel, run, lines } = await aChannel(t);
  await run();
  fake.revoke(appToken);
  fake.drop(1);
  fake.drop(0);
  await until('trouble', () => !channel.health().ok && lines.length > 0);
  await until('the reason', () => /token_revoked/.test(channel.health().detail));
  await channel.post(place, card);
  assert.equal(fake.messages().length, 1);
  fake.restore(appToken);
  await until('sockets', () => fake.count() === 2 && channel.health().ok);
  assert.deepEqual(kinds(lines).slice(-1), ['TokenRefused']);
});

test('a missing app token is said with the name of its variable and read again every 30 s', async (t) => {
  const mounted: { token?: string } = {};
  const { fake, channel, start, clock } = await aChannel(t, { appToken: async () => mounted.token });
  start();
  await until('a pause', () => clock.slept.includes(30_000));
  assert.match(channel.health().detail, /set SLACK_APP_TOKEN or SLACK_APP_TOKEN_FILE/);
  mounted.token = appToken;
  await until('sockets', () => fake.count() === 2);
});

test('garbage, 5xx, 429, silence and a hang-up when asking for a socket: it survives them all', async (t) => {
  const { fake, channel, start, lines, clock } = await aChannel(t);
  const faults = [
    { status: 200, body: '<html>' },
    { status: 200, body: '{"ok":true}' },
    { status: 502, body: 'Bad Gateway' },
    tooManyRequests(3),
    refusal('missing_scope', { needed: 'connections:write' }),
    'silence' as const,
    'hang up' as const,
  ];
  for (const fault of faults) fake.fail('apps.connections.open', fault);
  start();
  await until('sockets', () => fake.count() === 2 && channel.health().ok);
  assert.ok(clock.slept.includes(3_000), 'as long as Slack asked for');
  const seen = new Set(kinds(lines));
  for (const kind of ['Garbage', 'ServerError', 'TooFast', 'MissingScope'])
    assert.ok(seen.has(kind), `${kind} in ${[...seen].join()}`);
  const press = fake.press('a:data')!;
  await until('an acknowledgement', () => fake.acks(press).length === 1);
});

test('Socket Mode switched off, and too many sockets: said, with back-off, until it is over', async (t) => {
  const { fake, channel, run, lines, clock } = await aChannel(t);
  await run();
  fake.behave('hello and goodbye');
  fake.refresh(0, 'link_disabled');
  fake.refresh(0, 'link_disabled');
  await until(
    'the reason',
    () => lines.length > 0 && /Socket Mode is switched off|as soon as they are open/.test(channel.health().detail),
  );
  await until('back-off', () => clock.slept.includes(4_000));
  assert.ok(kinds(lines).length <= 4, `not a line for each attempt: ${kinds(lines).join()}`);
  fake.behave('usual');
  await until('sockets', () => fake.count() === 2 && channel.health().ok);
});

test('words that are no envelope are passed over', async (t) => {
  const { fake, run } = await aChannel(t);
  await run();
  fake.say(0, 'not json');
  fake.say(0, '{"type":"interactive","envelope_id":"e1","payload":{"type":"block_actions"}}');
  fake.say(0, '{"type":"slash_commands","envelope_id":"e2","payload":{"command":"/tapfix"}}');
  fake.say(0, '{"type":"events_api","envelope_id":"e3","payload":{"event":{"type":"app_mention"}}}');
  const press = fake.press('a:data', { via: 0 })!;
  await until('an acknowledgement', () => fake.acks(press).length === 1);
});

test('an outage of all of Slack: one line, then everything is as before', async (t) => {
  const first = await startFakeSlack();
  const { port } = first;
  const { channel, start, lines } = await aChannel(t, { apiUrl: first.apiUrl });
  start();
  await until('sockets', () => first.count() === 2 && channel.health().ok);
  await first.close();
  await until('trouble', () => /cannot be reached \(ECONNREFUSED\)/.test(channel.health().detail));
  await pause(200);
  const again = await startFakeSlack({ port });
  t.after(() => again.close());
  await until('sockets', () => again.count() === 2 && channel.health().ok);
  await until('the good news', () => lines.some(({ message }) => message === 'slack works again'));
  const said = lines.filter(({ message }) => message === 'slack does not work');
  assert.deepEqual(new Set(kinds(said)).size, said.length, 'each trouble is said once');
});

test('run again after it was stopped: two sockets again, and presses arrive, each handled once', async (t) => {
  const { fake, channel, lines } = await aChannel(t);
  const presses: string[] = [];
  const handlers = {
    onPress: async ({ data }: Press): Promise<Answer> => (presses.push(data), { say: '', alert: false }),
    onCommand: async (): Promise<Answer> => ({ say: '', alert: false }),
    commands: [],
  };
  for (const round of ['first', 'second', 'third']) {
    const stop = new AbortController();
    t.after(() => stop.abort());
    const running = channel.run(handlers, stop.signal);
    assert.deepEqual(channel.health(), { ok: false, detail: 'connecting' });
    await until('two sockets', () => channel.health().detail === 'receiving');
    assert.equal(fake.count(), 2);
    fake.press(round);
    await until(round, () => presses.at(-1) === round);
    stop.abort();
    await running;
    assert.deepEqual(channel.health(), { ok: false, detail: 'stopped' });
    await until('no socket', () => fake.count() === 0);
  }
  assert.deepEqual(presses, ['first', 'second', 'third']);
  assert.deepEqual(lines, []);
});
