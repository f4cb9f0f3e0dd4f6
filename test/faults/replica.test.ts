import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiRequest } from '../../src/sim/api/model.ts';
import { createPhone } from '../scenario/life/phone.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { createGate, gatedChannel, gatedClock, gatedServer } from './replica.ts';

/** A process with a server that takes its time, and what arrived there. */
function aProcess({ answerMs = 0, leads = true } = {}) {
  const clock = fakeClock();
  const gate = createGate();
  const arrived: string[] = [];
  const heard: string[] = [];
  const server = {
    async handle({ path }: ApiRequest) {
      arrived.push(path);
      await clock.sleep(answerMs);
      return { status: 200, body: {} };
    },
  };
  let isLeader = leads;
  const way = gatedServer(server, gate, () => {
    if (!isLeader) throw new Error('does not lead');
  });
  const write = (path: string): void =>
    void way.handle({ method: 'PATCH', path, query: {} } as ApiRequest).then(
      () => heard.push(path),
      (error: Error) => heard.push(`${path} ${error.message}`),
    );
  return { clock, gate, arrived, heard, write, depose: () => void (isLeader = false) };
}

test('what a process sent before its pause arrives; it hears the answer, and does anything else, only when it goes on', async () => {
  const { clock, gate, arrived, heard, write } = aProcess({ answerMs: 5_000 });
  write('before');
  await clock.advance(1_000);
  gate.pause();
  write('during');
  let awake = false;
  void gatedClock(clock, gate)
    .sleep(1_000)
    .then(() => (awake = true));
  await clock.advance(20_000);
  assert.deepEqual([arrived, heard, awake], [['before'], [], false]);
  gate.resume();
  await clock.advance(10_000);
  assert.deepEqual([arrived, heard, awake], [['before', 'during'], ['before', 'during'], true]);
});

test('a pause strikes behind a check: that one write is sent afterwards, and every other is checked again', async () => {
  const { clock, gate, arrived, heard, write, depose } = aProcess();
  gate.strikeAt('write', 1, gate.pause);
  write('past its check');
  write('another');
  await clock.advance(10_000);
  assert.deepEqual(arrived, []);
  depose();
  gate.resume();
  await clock.advance(10);
  assert.deepEqual(arrived, ['past its check']);
  assert.deepEqual(heard.toSorted(), ['another does not lead', 'past its check']);
});

test('a paused process that is killed does nothing more', async () => {
  const { clock, gate, arrived, heard, write } = aProcess();
  gate.pause();
  write('during');
  gate.die();
  await clock.advance(10_000);
  assert.deepEqual([arrived, heard, gate.isPaused()], [[], [], false]);
});

test('a press does not reach a paused process', async () => {
  const clock = fakeClock();
  const gate = createGate();
  const phone = createPhone();
  const stop = new AbortController();
  const written: string[] = [];
  const say = async ({ text }: { text: string }) => (written.push(text), { say: text, alert: false });
  const refuse = async (): Promise<never> => Promise.reject(new Error('nobody presses'));
  const handlers = { onPress: refuse, onCommand: say, commands: [] };
  const ended = gatedChannel(phone.connect(stop.signal), gate).run(handlers, stop.signal);
  gate.pause();
  void phone.write('status');
  await clock.advance(1_000);
  assert.deepEqual(written, []);
  gate.resume();
  await clock.advance(1_000);
  assert.deepEqual(written, ['status']);
  stop.abort();
  await ended;
});
