import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Config } from '../../src/config/schema.ts';
import { gather } from '../../src/explain/examine.ts';
import { explained, ledgerLines, pageOf } from '../../src/explain/explanation.ts';
import { parseTarget } from '../../src/explain/findings.ts';
import { ApiError } from '../../src/kube/api.ts';
import { timesIn } from '../../src/notices/cards/times.ts';
import { aConfig } from '../support/config.ts';
import { aNoticeOf } from '../support/fixes.ts';
import { aStreet, blockedByQuota, comeUp, crashLoop, failedCreate, podSignal, type Street } from '../support/street.ts';

/* What `tapfix explain` says, whole, of a cluster in memory. */

function compare(name: string, text: string): void {
  const file = new URL(`explain-${name.replaceAll(' ', '-')}.txt`, import.meta.url);
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, `${text}\n`);
  assert.equal(`${text}\n`, readFileSync(file, 'utf8'));
}

async function explain({ server, clock }: Street, what: string, over: Partial<Config> = {}): Promise<string> {
  const reader = server.client();
  const deps = { reader, clock, config: aConfig(over), ownNamespace: 'tapfix' };
  const findings = await gather(deps, parseTarget(what));
  assert.deepEqual(server.calls.filter(({ verb }) => !['get', 'list'].includes(verb)), []);
  return explained(findings, { nowMs: clock.now(), timeZone: 'Europe/Berlin' }).join('\n');
}

const pod = 'shop/pod/checkout-6b8c9d7f54-x2x4z';
const seedEvent = (street: Street, reason: string, message: string, name = 'checkout-6b8c9d7f54-x2x4z'): void => {
  const { uid } = street.server.get('Pod', 'shop', name)!.metadata;
  street.server.seed('Event', 'shop', {
    metadata: { name: `${name}.${reason.toLowerCase()}` },
    type: 'Warning',
    reason,
    message,
    count: 14,
    lastTimestamp: '2026-11-16T03:11:50Z',
    involvedObject: { kind: 'Pod', namespace: 'shop', name, uid },
  });
};

/** What its ReplicaSet says when a pod is refused, as an Event. */
function refused(street: Street, name: string): void {
  const { namespace, object, reason, message } = failedCreate(street, name);
  street.server.seed('Event', namespace, {
    metadata: { name: `${object.name}.1` },
    type: 'Warning',
    reason,
    message,
    count: 3,
    lastTimestamp: '2026-11-16T03:11:50Z',
    involvedObject: { ...object, namespace },
  });
}

const scenes: [string, (street: Street) => Promise<void> | void, string, Partial<Config>?][] = [
  ['healthy', (street) => (crashLoop(street), comeUp(street, 0)), 'shop/Deployment/checkout'],
  ['broken and not told yet', (street) => (crashLoop(street), seedEvent(street, 'BackOff', 'Back-off restarting failed container app')), 'shop/Deployment/checkout'],
  ['a pod of it', (street) => void crashLoop(street), pod],
  ['class switched off', (street) => void crashLoop(street), 'shop/Deployment/checkout', { classes: { CrashLoop: { enabled: false } } }],
  ['namespace not selected', (street) => void crashLoop(street), pod, { namespaces: { include: ['payments'], exclude: [] } }],
  ['ignored by a rule', (street) => void crashLoop(street), 'shop/Deployment/checkout', { ignore: [{ name: 'check*' }] }],
  ['annotated', (street) => void crashLoop(street, { metadata: { annotations: { 'tapfix.dev/ignore': 'true' } } }), 'shop/Deployment/checkout'],
  ['healed by itself', (street) => { crashLoop(street); seedEvent(street, 'BackOff', 'Back-off restarting failed container app'); comeUp(street, 3); }, 'shop/Deployment/checkout'],
  ['up again after it ran out of memory', ranOutOfMemory, 'shop/Deployment/checkout'],
  ['blocked by a quota', (street) => (blockedByQuota(street, ['api']), refused(street, 'api')), 'shop/Deployment/api'],
  ['the quota itself', (street) => (blockedByQuota(street, ['api', 'web']), refused(street, 'api'), refused(street, 'web')), 'shop/quota/tight'],
  ['a quota of which nothing is said any more', (street) => blockedByQuota(street, ['api']), 'shop/quota/tight'],
  ['your own event reason', (street) => { crashLoop(street); comeUp(street, 0); seedEvent(street, 'BackupFailed', 'backup to s3://keys failed: password=hunter2'); }, 'shop/Deployment/checkout', { extraReasons: [{ reason: 'BackupFailed', class: 'BackupFailed', severity: 'warning', for: 60_000 }] }],
  ['a node that is down', nodeDown, 'node/worker-3'],
  ['a workload on a node that is down', nodeDown, 'shop/Deployment/checkout'],
  ['told', told, 'shop/Deployment/checkout'],
  ['told but not sent', async (street) => { await told(street); const [fix] = street.fixes(); street.server.seed('Notice', 'tapfix', aNoticeOf([fix!], {}, { attempts: 3, lastError: 'Forbidden: bot was kicked from the group' })); }, 'shop/Deployment/checkout'],
  ['told by its quota', async (street) => { blockedByQuota(street, ['api']); const { onSignal, stop } = street.start(); onSignal(failedCreate(street, 'api')); await street.advance(30_000); stop(); street.server.calls.length = 0; }, 'shop/Deployment/api'],
];

/** Twice within ten minutes, and ready at this moment. */
function ranOutOfMemory(street: Street): void {
  crashLoop(street);
  comeUp(street, 3);
  const killed = (minute: string) => ({ terminated: { reason: 'OOMKilled', exitCode: 137, startedAt: `2026-11-16T03:${minute}:00Z`, finishedAt: `2026-11-16T03:${minute}:40Z` } });
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-11-16T03:11:50Z' }];
  const container = { name: 'app', ready: true, restartCount: 3, state: { running: { startedAt: '2026-11-16T03:11:45Z' } }, lastState: killed('11') };
  street.server.change('Pod', 'shop', pod.split('/')[2]!, { status: { phase: 'Running', conditions, containerStatuses: [container] } });
}

/** The node does not answer, and checkout has its only pod on it. */
function nodeDown(street: Street): void {
  crashLoop(street);
  comeUp(street, 0);
  const ready = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.', lastTransitionTime: '2026-11-16T03:05:00Z' }; // prettier-ignore
  street.server.seed('Namespace', undefined, { metadata: { name: 'tapfix' } });
  street.server.seed('Node', undefined, { metadata: { name: 'worker-3' }, status: { conditions: [ready] } });
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-11-16T03:05:40Z' }];
  street.server.change('Pod', 'shop', pod.split('/')[2]!, { spec: { nodeName: 'worker-3' }, status: { conditions } });
  street.server.change('Deployment', 'shop', 'checkout', { status: { readyReplicas: 0, availableReplicas: 0 } });
}

async function told(street: Street): Promise<void> {
  crashLoop(street);
  const { onSignal, stop } = street.start();
  onSignal(podSignal(street));
  await street.advance(60_000);
  stop();
  street.server.calls.length = 0;
}

for (const [name, prepare, what, over] of scenes)
  test(`explain: ${name}`, async () => {
    const street = aStreet();
    await prepare(street);
    compare(name, await explain(street, what, over));
  });

test('explain: kinds that whoever asks may not list are named, and nothing else is lost', async () => {
  const street = aStreet();
  crashLoop(street);
  street.server.hooks.before = ({ verb, kind }) => {
    const isOut = ['Node', 'StorageClass', 'Remediation', 'Notice', 'Event'].includes(kind);
    if (verb === 'list' && isOut) throw new ApiError('forbidden', 403, 'Forbidden');
  };
  compare('with few rights', await explain(street, 'shop/Deployment/checkout'));
});

test('explain: a cluster without tapfix', async () => {
  const street = aStreet();
  crashLoop(street);
  street.server.hooks.before = ({ kind }) => {
    if (['Remediation', 'Notice'].includes(kind)) throw new ApiError('the cluster does not know it', 404, 'NoSuchPath');
  };
  compare('without tapfix', await explain(street, 'shop/Deployment/checkout'));
});

test('explain: what the watcher has in its books', () => {
  const entry = { class: 'CrashLoop', reason: 'BackOff', count: 14 };
  const page = pageOf({
    workload: 'shop/Deployment/checkout',
    waiting: [{ ...entry, count: 1, since: '2026-11-16T03:11:50Z' }],
    outcomes: [
      { ...entry, outcome: 'Repeated', first: '2026-11-16T02:12:00Z', last: '2026-11-16T02:44:00Z' },
      { ...entry, class: 'QuotaExceeded', outcome: 'Told', first: '2026-11-16T02:11:00Z', last: '2026-11-16T02:12:00Z', incident: 'shop/ResourceQuota/tight' },
    ],
  });
  compare('books', ledgerLines(page!, timesIn('Europe/Berlin', Date.parse('2026-11-16T03:12:00Z'))).join('\n'));
  assert.deepEqual(ledgerLines({ waiting: [], outcomes: [] }, timesIn('UTC', 0)), ['has not seen it since it started']);
  for (const answer of [undefined, 'hello', {}, { waiting: 1, outcomes: [] }]) assert.equal(pageOf(answer), undefined);
});
