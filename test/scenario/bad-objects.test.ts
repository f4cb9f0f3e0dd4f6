import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { actions } from '../../src/actions/table.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import type { Remediation } from '../../src/kube/remediation.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { customResourceDefinitions } from '../../src/manifests/crd.ts';
import type { Sim } from '../../src/sim/sim.ts';
import { aSetup, startTapfix } from './support/tapfix.ts';
import { createFullSim } from '../sim/full-sim.ts';

/* The built program, and an API server whose watches now and then say what no API server should. */

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const named = (apiVersion: string, kind: string, name: string) => ({ apiVersion, kind, metadata: { name } });

async function aCluster(t: TestContext): Promise<Sim> {
  const sim = createFullSim({
    clock: systemClock,
    log: silent,
    nodes: 1,
    definitions: customResourceDefinitions(actions),
  });
  const end = new AbortController();
  const ended = sim.start(end.signal);
  t.after(async () => {
    end.abort();
    await ended;
  });
  for (const name of ['shop', 'tapfix']) await sim.api.create({ kind: 'Namespace' }, named('v1', 'Namespace', name));
  return sim;
}

/** Stands before the cluster. The next watches of a collection hear these bytes, and then the connection ends. */
async function aSpoiler(t: TestContext, sim: Sim, bytes: Record<string, string[]>): Promise<string> {
  const behind = await sim.listen();
  const isSpoiled = (path: URL): string[] | undefined =>
    path.searchParams.has('watch') ? bytes[path.pathname.split('/').at(-1)!] : undefined;
  const pass = (from: IncomingMessage, to: ServerResponse): void => {
    const { authorization: _, ...headers } = from.headers; // the cluster knows nobody by name
    const { method } = from;
    const onward = request(`${behind.url}${from.url}`, { method, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
      answer.pipe(to);
    });
    onward.on('error', () => to.destroy());
    to.on('close', () => onward.destroy());
    from.pipe(onward);
  };
  const server = createServer((from, to) => {
    const spoiled = isSpoiled(new URL(from.url ?? '/', behind.url))?.shift();
    if (spoiled === undefined) pass(from, to);
    else to.writeHead(200, { 'content-type': 'application/json' }).end(spoiled);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.close();
    server.closeAllConnections();
    await behind.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const workload = (name: string, over: object = {}) => ({
  ...named('apps/v1', 'Deployment', name),
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'app', image: 'shop/app:1', resources: { requests: { memory: '16Mi' } } }] },
    },
    ...over,
  },
});
const tight = { ...named('v1', 'ResourceQuota', 'tight'), spec: { hard: { 'requests.memory': '20Mi' } } };
/** A pod that crashes, made by something whose kind nobody here can read. */
const owned = {
  ...named('v1', 'Pod', 'widget-0'),
  metadata: {
    name: 'widget-0',
    annotations: { 'sim.tapfix.dev/behave': 'crash' },
    ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'big', uid: 'w-1', controller: true }],
  },
  spec: { containers: [{ name: 'app', image: 'shop/widget:1', resources: { requests: { memory: '1Mi' } } }] },
};

const line = (object: object): string => `${JSON.stringify({ type: 'ADDED', object })}\n`;
const failing = (about: object, over: object = {}) => ({
  ...named('v1', 'Event', 'e'),
  metadata: { name: 'e', namespace: 'shop', uid: crypto.randomUUID() },
  type: 'Warning',
  reason: 'BackOff',
  message: 'Back-off restarting failed container app in pod',
  involvedObject: { kind: 'Pod', namespace: 'shop', ...about },
  ...over,
});

test('bad input costs itself: counted, never fatal, and nobody is told what is not so', async (t) => {
  const sim = await aCluster(t);
  await sim.api.create({ kind: 'Deployment', namespace: 'shop' }, workload('fine'));
  const pods = (): Promise<KubeObject[]> => sim.api.list<KubeObject>('Pod', 'shop', { labelSelector: 'app=fine' });
  while ((await pods()).length === 0) await systemClock.sleep(20);
  const [{ metadata: fine }] = (await pods()) as [KubeObject];
  const absurd = {
    firstTimestamp: '0000-00-00',
    lastTimestamp: '+275760-09-13T00:00:00Z',
    eventTime: 7,
    count: -1e300,
  };
  const events = [
    line(failing({ name: 'x' }, { involvedObject: undefined })) +
      line(
        failing(
          { name: 'big-5d9f8b6c4d-x2x4z', uid: 'gone' },
          { message: 'restarting failed container '.padEnd(1 << 20, 'x') },
        ),
      ) +
      line(
        failing({ name: 'bell\u0007\u202e', uid: 'gone' }, { message: '\u001b[31m\u0000 restarting failed container' }),
      ) +
      line(failing({ name: 'web-0/../../secrets', uid: 'gone' })) +
      line(failing({ name: fine.name, uid: fine.uid }, absurd)) +
      '{"type":"ADDED","object":{"kind":"Eve',
    '\u0000\u0001\n',
    '{"type":"ADDED","object":"an object"}\n',
  ];
  const url = await aSpoiler(t, sim, { events, pods: [line({ spec: 7 })] });
  const classes = { QuotaExceeded: { for: '1s' }, CrashLoop: { for: '1s' } };
  const { words, env } = await aSetup(t, { server: url, config: { classes } });
  const tapfix = startTapfix(t, words, { env });
  await tapfix.until('the bad bytes to be read', () => events.length === 0);

  await sim.api.create({ kind: 'Pod', namespace: 'shop' }, owned);
  await sim.api.create({ kind: 'ResourceQuota', namespace: 'shop' }, tight);
  await sim.api.create({ kind: 'Deployment', namespace: 'shop' }, workload('blocked'));
  const told = async (): Promise<string[]> =>
    (await sim.api.list<Remediation>('Remediation')).map(({ spec }) => `${spec.incident.class} ${spec.incident.key}`);
  await tapfix.until('both incidents', async () => (await told()).length >= 2);
  await systemClock.sleep(3_000); // patience is a second: anything else would have been told by now
  assert.deepEqual((await told()).sort(), ['CrashLoop shop/Widget/big', 'QuotaExceeded shop/ResourceQuota/tight']);

  const { text } = await tapfix.page('/metrics');
  const counted = (outcome: string): number =>
    Number(new RegExp(`^tapfix_signals_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  assert.deepEqual([counted('Unreadable'), counted('OwnerUnknown')], [4, 1], text);
  assert.equal((await tapfix.readyz()).status, 200);
  assert.equal(tapfix.stderr(), '');
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(tapfix.stdout(), /[\x00-\x08\x0b-\x1a\x1c-\x1f]|\u202e/);
});
