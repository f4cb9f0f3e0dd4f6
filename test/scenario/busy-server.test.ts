import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { actions } from '../../src/actions/table.ts';
import { runTapfix } from '../../src/app/app.ts';
import { createApi } from '../../src/kube/client.ts';
import { createOutage } from '../../src/kube/outage.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { customResourceDefinitions } from '../../src/manifests/crd.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { createReadiness } from '../../src/ops/readiness.ts';
import { parseBehaviour } from '../../src/sim/kubelet/behaviour.ts';
import { randomOf } from '../long/random.ts';
import { createFullSim } from '../sim/full-sim.ts';
import { hurriedClock } from '../support/hurried-clock.ts';
import { kubeConfigFor } from '../support/scripted-server.ts';
import { createPhone } from './life/phone.ts';
import { deployment } from './life/shop.ts';
import { configWith } from './life/world.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** In front of an API server: refuses requests as the real one does when too many are under way, and passes on the others. */
async function aBusyFront(t: TestContext, server: string, isBusy: () => boolean): Promise<string> {
  const front = createServer((request, response) => {
    if (isBusy()) {
      request.resume();
      response.writeHead(429, { 'retry-after': '1', 'content-type': 'text/plain; charset=utf-8' });
      return void response.end('Too many requests, please try again later.\n');
    }
    const { method, headers, url = '/' } = request;
    const onwards = ask(`${server}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
      answer.pipe(response);
    });
    onwards.on('error', () => response.destroy());
    response.on('close', () => onwards.destroy());
    request.pipe(onwards);
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  t.after(() => {
    front.closeAllConnections();
    front.close();
  });
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
}

interface Process {
  said: string[];
  ended: Promise<boolean>;
  close(): Promise<void>;
}

/** One role, as a process of its own would run it: its own client, its own log. */
function startRole(
  role: 'watcher' | 'controller',
  {
    url,
    clock,
    phone,
    signal,
  }: { url: string; clock: Clock; phone: ReturnType<typeof createPhone>; signal: AbortSignal },
): Process {
  const said: string[] = [];
  const note = (fields: object, message: string): void => void said.push(`${message} ${JSON.stringify(fields)}`);
  const log = { debug() {}, info: note, warn: note, error: note };
  const config = configWith({});
  const api = createApi({ kubeConfig: kubeConfigFor(url), clock, outage: createOutage({ clock, log }) });
  const ended = runTapfix({
    role,
    api,
    clock,
    log,
    current: () => config,
    ownNamespace: 'tapfix',
    identity: `system:serviceaccount:tapfix:tapfix-${role}`,
    timeZone: 'UTC',
    metrics: createMetrics(),
    readiness: createReadiness(),
    channels: new Map(role === 'watcher' ? [['telegram', phone.connect(signal)]] : []),
    signal,
  });
  return { said, ended, close: () => api.close() };
}

/** True for one of each two calls, now the first of them and now the second. */
function createOneOfTwo(): () => boolean {
  const { next } = randomOf(15);
  let second: boolean | undefined;
  return () => {
    const isIt = second ?? next() < 0.5;
    second = second === undefined ? !isIt : undefined;
    return isIt;
  };
}

const aboutTheOutage = /API server|watch is|pass failed|could not be read|not sent|trying again/;

test('over HTTP, half of all requests answered 429 for a minute: posted soon after its patience, two lines a role', async (t) => {
  const clock = hurriedClock(20);
  const stop = new AbortController();
  const sim = createFullSim({
    clock,
    log: silent,
    nodes: 2,
    definitions: customResourceDefinitions(actions),
    behaviours: (_pod, { image = '' }) => (image.endsWith('-crash') ? parseBehaviour('crash') : undefined),
  });
  void sim.start(stop.signal);
  const listening = await sim.listen();
  for (const name of ['shop', 'tapfix']) await sim.api.create({ kind: 'Namespace' }, { metadata: { name } });
  await sim.api.create({ kind: 'ServiceAccount', namespace: 'tapfix' }, { metadata: { name: 'tapfix-writer' } });
  await sim.api.create({ kind: 'ConfigMap', namespace: 'tapfix' }, { metadata: { name: 'tapfix-mutes' } });

  let isOverloaded = false;
  const oneOfTwo = createOneOfTwo();
  const answered = { busy: 0, served: 0 };
  const url = await aBusyFront(t, listening.url, () => {
    if (!isOverloaded) return false;
    const isBusy = oneOfTwo();
    answered[isBusy ? 'busy' : 'served'] += 1;
    return isBusy;
  });
  const phone = createPhone();
  const roles = (['watcher', 'controller'] as const).map((role) =>
    startRole(role, { url, clock, phone, signal: stop.signal }),
  );
  t.after(async () => {
    stop.abort();
    await Promise.all(roles.map(({ ended }) => ended));
    await Promise.all(roles.map(({ close }) => close()));
    await listening.close();
  });

  async function until(what: string, isTrue: () => boolean | Promise<boolean>, mostMs: number): Promise<void> {
    const endMs = clock.now() + mostMs;
    while (!(await isTrue())) {
      assert.ok(clock.now() < endMs, `no ${what} within ${mostMs / 1000} s`);
      await clock.sleep(200);
    }
  }

  await sim.api.create({ kind: 'Deployment', namespace: 'shop' }, deployment('api'));
  await clock.sleep(60_000); // it runs, and was seen to
  isOverloaded = true;
  for (const { said } of roles) said.length = 0;
  const beganMs = clock.now();
  const crashing = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'shop/app:2-crash' }];
  await sim.api.patch({ kind: 'Deployment', namespace: 'shop', name: 'api' }, 'json', crashing);
  const isFailing = async (): Promise<boolean> =>
    (await sim.api.list('Event', 'shop')).some((event) => (event as { reason?: string }).reason === 'BackOff');
  await until('crash', isFailing, 60_000);
  const patienceEndsMs = clock.now() + 30_000;
  await until('message', () => phone.messages.length > 0, 180_000);
  const lateS = Math.round((clock.now() - patienceEndsMs) / 1000);
  await clock.sleep(Math.max(0, beganMs + 60_000 - clock.now()));
  isOverloaded = false;
  await clock.sleep(30_000);

  const lines = roles.map(({ said }) => said.filter((line) => aboutTheOutage.test(line)));
  t.diagnostic(
    `posted ${lateS} s after its patience; ${answered.busy} of ${answered.busy + answered.served} requests refused; lines about it: watcher ${lines[0]!.length}, controller ${lines[1]!.length}`,
  );
  // 20 to 28 s were measured. Chance decides, so this bound is a wide one; life/busy.test.ts has 30 s for a few seeds.
  assert.ok(lateS <= 40, `${lateS} s late`);
  for (const ofRole of lines) assert.ok(ofRole.length <= 2, ofRole.join('\n'));
  // The first of them introduces tapfix.
  assert.deepEqual(
    phone.messages.map(({ message }) => message.cards[0]?.dot),
    ['hello', 'red'],
    phone.text(),
  );
});
