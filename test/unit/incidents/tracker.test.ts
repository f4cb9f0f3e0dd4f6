import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remediationName } from '../../../src/incidents/key.ts';
import { viewReplicaSet } from '../../../src/kube/views.ts';
import { detectEvent } from '../../../src/signals/detect.ts';
import { aQuotaFix, condition } from '../../support/fixes.ts';
import {
  aStreet,
  blockedByQuota,
  comeUp,
  crash,
  crashLoop,
  failedCreate,
  podSignal,
  type Process,
  type Street,
  unblock,
} from '../../support/street.ts';
import { anEvent } from '../../support/views.ts';

const name = remediationName('shop/Deployment/checkout', 1);

/** This process saw the first revision run for an hour before it was scaled to zero. */
function sawItHealthy({ server, clock }: Street, { history }: Process): void {
  const view = viewReplicaSet(server.get('ReplicaSet', 'shop', 'checkout-7d9f8b6c5d')!)!;
  history.observe({ ...view, desired: 1, available: 1 }, clock.now() - 3_600_000);
  history.observe({ ...view, desired: 0, available: 0 }, clock.now());
}

async function crashing(deployment = {}, seen = true): Promise<{ street: Street; process: Process }> {
  const street = aStreet();
  crashLoop(street, deployment);
  const process = street.start();
  if (seen) sawItHealthy(street, process);
  process.onSignal(podSignal(street));
  await street.advance(32_000);
  return { street, process };
}

test('a crash loop that the newest revision brought: undo it, to the one that was seen healthy', async () => {
  const { street } = await crashing();
  const [fix] = street.fixes();
  const { uid } = street.server.get('Deployment', 'shop', 'checkout')!.metadata;
  assert.equal(fix?.metadata.name, name);
  assert.deepEqual(fix?.spec.action, {
    type: 'RolloutUndo',
    rolloutUndo: { kind: 'Deployment', name: 'checkout', uid, toRevision: 1 },
  });
  assert.equal(fix?.spec.diagnosis, 'container app exits 1 after 20 s');
  assert.deepEqual(fix?.spec.context.changed, ['2026-11-16T03:12:00.000Z rollout 2: app image 1.41 → 1.42']);
  assert.equal(
    fix?.spec.rationale,
    'Revision 1 was seen healthy for 60 min; 1 pod is replaced. To undo:\nkubectl -n shop rollout undo deploy/checkout --to-revision=2',
  );
  assert.equal(fix?.spec.proposedBy, 'system:serviceaccount:tapfix:tapfix-watcher');
  assert.deepEqual(
    [fix?.status?.sightings?.ready, fix?.status?.sightings?.desired, fix?.status?.sightings?.affected],
    [0, 1, undefined],
  );
});

const refusals = [
  {
    name: 'nobody saw the previous revision healthy',
    deployment: {},
    seen: false,
    why: 'revision 1 was not seen healthy, so going back may not help',
  },
  {
    name: 'the Deployment is protected',
    deployment: { metadata: { labels: { 'tapfix.dev/protected': 'true' } } },
    seen: true,
    why: 'Deployment checkout is labelled tapfix.dev/protected=true; nothing was changed.',
  },
  {
    name: 'Argo CD owns it',
    deployment: { metadata: { labels: { 'argocd.argoproj.io/instance': 'shop' } } },
    seen: true,
    why: 'Deployment checkout belongs to Argo CD (application shop), which would put it back.',
  },
  {
    name: 'Flux owns it',
    deployment: { metadata: { labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' } } },
    seen: true,
    why: 'Deployment checkout belongs to Flux (Kustomization apps), which would put it back.',
  },
  {
    name: 'the rollout is paused',
    deployment: { spec: { paused: true } },
    seen: true,
    why: 'the rollout is paused, somebody is at work on it',
  },
];
for (const { name: because, deployment, seen, why } of refusals)
  test(`notify only, with the reason: ${because}`, async () => {
    const { street } = await crashing(deployment, seen);
    assert.deepEqual(
      street.fixes().map(({ spec }) => [spec.action, spec.rationale]),
      [[undefined, why]],
    );
  });

test('an action that the config does not allow is not offered, and it says so', async () => {
  const street = aStreet({ actions: { allow: ['DeleteResourceQuota'] } });
  crashLoop(street);
  const process = street.start();
  sawItHealthy(street, process);
  process.onSignal(podSignal(street));
  await street.advance(32_000);
  assert.equal(street.fixes()[0]!.spec.action, undefined);
  assert.equal(street.fixes()[0]!.spec.rationale, 'RolloutUndo is not in actions.allow');
});

test('a pod that looks healthy between two crashes is watched, and told when it crashes again', async () => {
  const street = aStreet();
  crashLoop(street);
  const process = street.start();
  process.onSignal(podSignal(street));
  await street.advance(25_000);
  comeUp(street, 4);
  await street.advance(30_000);
  assert.deepEqual([street.fixes().length, street.outcomes], [0, []]);
  crash(street, 4);
  await street.advance(2_000); // no signal needed: the reading sees it
  assert.equal(street.fixes().length, 1);
});

test('a crash loop is over only after twice the longest time that it lets a pod look fine', async () => {
  const { street } = await crashing(); // its container lived for 20 s
  comeUp(street, 4);
  await street.advance(38_000);
  assert.deepEqual(street.cleared(), []);
  await street.advance(10_000);
  assert.deepEqual(street.cleared(), [name]);
});

test('a restart within the window is a break, even if both readings look fine', async () => {
  const { street } = await crashing();
  comeUp(street, 4);
  await street.advance(35_000);
  comeUp(street, 5);
  await street.advance(35_000);
  assert.deepEqual(street.cleared(), []);
});

test('a Deployment that is deleted ends its episode, once it has been away for a minute', async () => {
  const { street } = await crashing();
  street.server.remove('Deployment', 'shop', 'checkout');
  await street.advance(45_000);
  assert.deepEqual(street.cleared(), []);
  await street.advance(30_000);
  assert.deepEqual(street.cleared(), [name]);
});

const dropped = [
  {
    name: 'a namespace that is terminating',
    prepare: ({ server }: Street) =>
      server.change('Namespace', '', 'shop', { metadata: { deletionTimestamp: '2026-11-16T03:12:00Z' } }),
    outcome: 'NamespaceTerminating',
  },
  {
    name: 'a namespace that is to be ignored',
    prepare: ({ server }: Street) =>
      server.change('Namespace', '', 'shop', { metadata: { annotations: { 'tapfix.dev/ignore': 'true' } } }),
    outcome: 'IgnoredByAnnotation',
  },
  {
    name: 'a workload that is to be ignored',
    prepare: ({ server }: Street) =>
      server.change('Deployment', 'shop', 'checkout', { metadata: { annotations: { 'tapfix.dev/ignore': 'true' } } }),
    outcome: 'IgnoredByAnnotation',
  },
];
for (const { name: what, prepare, outcome } of dropped)
  test(`${what} is dropped, and counted as ${outcome}`, async () => {
    const street = aStreet();
    crashLoop(street);
    prepare(street);
    street.start().onSignal(podSignal(street));
    await street.advance(60_000);
    assert.deepEqual([street.fixes(), street.outcomes], [[], [outcome]]);
  });

test('an annotation with any other value ignores nothing', async () => {
  const { street } = await crashing({ metadata: { annotations: { 'tapfix.dev/ignore': 'false' } } });
  assert.equal(street.fixes().length, 1);
});

const filtered = [
  { config: { namespaces: { include: ['pay-*'], exclude: [] } }, outcome: 'NamespaceNotSelected' },
  { config: { classes: { CrashLoop: { enabled: false } } }, outcome: 'ClassDisabled' },
  { config: { ignore: [{ kind: 'Deployment', name: 'check*' }] }, outcome: 'IgnoredByRule' },
];
for (const { config, outcome } of filtered)
  test(`by the config's word a signal ends as ${outcome}, and nothing is told`, async () => {
    const street = aStreet(config as never);
    crashLoop(street);
    street.start().onSignal(podSignal(street));
    await street.advance(60_000);
    assert.deepEqual([street.fixes(), street.outcomes], [[], [outcome]]);
  });

test('kube-system, named literally, is told but nothing is offered there', async () => {
  const street = aStreet({ namespaces: { include: ['kube-system'], exclude: [] } });
  street.server.seed('Namespace', undefined, { metadata: { name: 'kube-system' } });
  blockedByQuota(street, ['api'], 'kube-system');
  street.start().onSignal(failedCreate(street, 'api', 'kube-system'));
  await street.advance(12_000);
  const [fix] = street.fixes();
  assert.equal(fix?.metadata.namespace, 'kube-system');
  assert.deepEqual([fix?.spec.action, fix?.spec.rationale], [undefined, 'nothing is changed in this namespace']);
});

test('kube-system, named only by a glob, is not watched', async () => {
  const street = aStreet();
  street.server.seed('Namespace', undefined, { metadata: { name: 'kube-system' } });
  blockedByQuota(street, ['api'], 'kube-system');
  street.start().onSignal(failedCreate(street, 'api', 'kube-system'));
  await street.advance(12_000);
  assert.deepEqual([street.fixes(), street.outcomes], [[], ['NamespaceNotSelected']]);
});

test('a crash loop behind an operator is told under its custom owner, and nothing is offered', async () => {
  const owner = { apiVersion: 'example.com/v1', kind: 'Shop', name: 'main', uid: 'shop-1', controller: true };
  const { street } = await crashing({ metadata: { ownerReferences: [owner] } });
  const [fix] = street.fixes();
  assert.equal(fix?.spec.incident.key, 'shop/Shop/main');
  assert.equal(fix?.spec.action, undefined);
  assert.equal(fix?.spec.rationale, 'no revision to go back to: its owner is of no kind that tapfix knows');
  assert.equal(fix?.spec.diagnosis, 'container app exits 1 after 20 s');
  comeUp(street, 4);
  await street.advance(60_000);
  assert.equal(street.cleared().length, 1);
});

test('two workloads of the namespace are two incidents', async () => {
  const { street, process } = await crashing();
  blockedByQuota(street, ['api']);
  process.onSignal(failedCreate(street, 'api'));
  await street.advance(12_000);
  assert.deepEqual(
    street
      .fixes()
      .map(({ spec }) => spec.incident.key)
      .sort(),
    ['shop/Deployment/checkout', 'shop/ResourceQuota/tight'],
  );
});

const over = { conditions: [condition('IncidentCleared', '02:50:00')] };

/* The tracker. */

const quotaKey = 'shop/ResourceQuota/tight';

test('what was there before we looked and was never told is told, after its patience', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  street.start().onSignal({ ...failedCreate(street, 'api'), listed: true });
  await street.advance(9_900);
  assert.deepEqual(street.fixes(), []);
  await street.advance(200);
  assert.equal(street.fixes().length, 1);
});

test('what healed while nobody was running is seen to its end, without any signal', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  const process = street.start();
  process.onSignal(failedCreate(street, 'api'));
  await street.advance(12_000);
  process.stop();
  unblock(street, 'api');
  street.start();
  await street.clock.advance(45_000); // and no watch tells it anything
  assert.deepEqual(street.cleared(), [remediationName(quotaKey, 1)]);
});

test('noise from namespaces that are not selected costs no request', async () => {
  const street = aStreet({ namespaces: { include: ['pay-*'], exclude: [] } });
  street.start().onSignal(detectEvent(anEvent())!);
  await street.advance(1_000);
  assert.deepEqual(street.outcomes, ['NamespaceNotSelected']);
  assert.deepEqual(street.server.calls, []);
});

const vanishing: [string, (street: ReturnType<typeof aStreet>) => void, string][] = [
  ['the namespace is gone', ({ server }) => void server.remove('Namespace', '', 'shop'), 'NamespaceTerminating'],
  [
    'the quota goes at the last moment',
    ({ server }) => {
      server.hooks.before = ({ kind }) =>
        void (kind === 'Namespace' && server.remove('ResourceQuota', 'shop', 'tight'));
    },
    'TargetGone',
  ],
];
for (const [name, vanish, outcome] of vanishing)
  test(`nothing is told when ${name}, and it is counted`, async () => {
    const street = aStreet();
    blockedByQuota(street, ['api']);
    street.start().onSignal(failedCreate(street, 'api'));
    await street.advance(5_000);
    vanish(street);
    await street.advance(20_000);
    assert.deepEqual([street.fixes(), street.outcomes], [[], [outcome]]);
  });

test('the number of a Remediation is never used again, even if an earlier one was deleted', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  const { spec, status } = aQuotaFix({ phase: 'Resolved', ...over, incident: { key: quotaKey } });
  street.server.seed('Remediation', 'shop', { metadata: { name: remediationName(quotaKey, 2) }, spec, status });
  street.start().onSignal(failedCreate(street, 'api'));
  await street.advance(12_000);
  assert.deepEqual(
    street.fixes().map(({ metadata }) => metadata.name),
    [2, 3].map((n) => remediationName(quotaKey, n)),
  );
});
