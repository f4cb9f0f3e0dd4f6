import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHealth } from '../../../src/diagnosis/health.ts';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import { type ActionSpec, conditionOf } from '../../../src/kube/remediation.ts';
import { derive } from '../../../src/proposals/derive.ts';
import { condition } from '../../support/fixes.ts';
import { bad, good, imageOf, quotaWorld, template, undoWorld, type World } from './world.ts';

const reason = (world: World): string | undefined => conditionOf(world.fix(), world.phase() ?? '')?.reason;

test('a rehearsal that the server refuses is said, and an approval of it fails', async () => {
  const world = undoWorld();
  world.server.hooks.before = ({ dryRun }) => {
    if (dryRun) throw new ApiError('admission webhook "x" denied the request: no', 400, 'BadRequest');
  };
  world.start();
  await world.clock.advance(3_000);
  const { status, reason: why } = conditionOf(world.fix(), 'Rehearsed')!;
  assert.deepEqual([status, why], ['False', 'Refused']);
  world.approve('ada@example.com');
  await world.clock.advance(3_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'RehearsalFailed']);
});

test('a fix that we would not propose is applied only for a Kubernetes user, and only if a person proposed it', async () => {
  for (const [by, proposedBy, phase] of [
    ['telegram:7', 'ben@example.com', 'Failed'],
    ['ada@example.com', 'system:serviceaccount:tapfix:tapfix-watcher', 'Failed'],
    ['ada@example.com', 'ben@example.com', 'Applied'],
  ] as const) {
    const world = undoWorld();
    world.server.change('Remediation', 'shop', world.fix().metadata.name, { spec: { proposedBy } });
    world.start({}, { derive: async () => ({ diagnosis: '', changed: [], evidence: [], rationale: 'no' }) });
    await world.clock.advance(3_000);
    world.approve(by);
    await world.clock.advance(5_000);
    assert.equal(world.phase(), phase);
  }
});

test('a derivation that cannot be read is tried again, the preview does not wait for it', async () => {
  const world = undoWorld();
  let tries = 0;
  const derive = async () => {
    if (++tries < 4) throw new Unreachable('no answer');
    return { diagnosis: '', changed: [], evidence: [], rationale: '', action: world.fix().spec.action! };
  };
  world.start({}, { derive });
  await world.clock.advance(1_000);
  assert.ok(world.fix().status?.preview);
  assert.equal(conditionOf(world.fix(), 'Confirmed'), undefined);
  await world.clock.advance(10_000);
  assert.equal(conditionOf(world.fix(), 'Confirmed')?.status, 'True');
});

test('a derivation that is never readable is not confirmed', async () => {
  const world = undoWorld();
  world.start({}, { derive: () => Promise.reject(new Unreachable('no answer')) });
  await world.clock.advance(20_000);
  assert.deepEqual(conditionOf(world.fix(), 'Confirmed')?.reason, 'NotDerived');
});

test('what is confirmed is never older than what is shown', async () => {
  const world = undoWorld();
  let moved = false;
  world.server.hooks.before = ({ verb, kind }) => {
    if (moved || verb !== 'create' || kind !== 'RoleBinding') return;
    moved = true; // somebody rolls out a cure while the rehearsal is being prepared
    world.server.change('Deployment', 'shop', 'checkout', { spec: { template: template('shop/checkout:1.43') } });
  };
  const { action } = world.fix().spec;
  const said = { diagnosis: '', changed: [], evidence: [], rationale: 'it is another one by now' };
  world.start({}, { derive: async () => (imageOf(world.server) === bad ? { ...said, action: action! } : said) });
  await world.clock.advance(3_000);
  assert.equal(conditionOf(world.fix(), 'Confirmed')?.status, 'False');
  world.approve();
  await world.clock.advance(3_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'NotConfirmed']);
  assert.equal(imageOf(world.server), 'shop/checkout:1.43');
});

const real = { readHealth, derive };
const pods = (used: string) => ({ status: { hard: { pods: '1' }, used: { pods: used } } });
const ofQuota = (world: World, change: object) => world.server.change('ResourceQuota', 'shop', 'tight', change);
const word = (world: World, type: string) => conditionOf(world.fix(), type);

test('a quota that has room for a moment while it is confirmed: confirmed once it is full again', async () => {
  const world = quotaWorld();
  ofQuota(world, pods('1'));
  let isRehearsed = false;
  const { after } = world.server.hooks;
  world.server.hooks.after = async (call) => {
    await after?.(call);
    if (isRehearsed || !call.dryRun || call.kind !== 'ReplicaSet') return;
    isRehearsed = true;
    ofQuota(world, pods('0'));
  };
  world.start({}, real);
  await world.clock.advance(20_000);
  assert.equal(word(world, 'Confirmed'), undefined);
  ofQuota(world, pods('1'));
  await world.clock.advance(5_000);
  assert.equal(word(world, 'Confirmed')?.status, 'True');
});

test('a namespace in which pods come and go all the time: the rehearsal takes the quota as it is last', async () => {
  const world = quotaWorld();
  let used = 0;
  world.server.hooks.before = ({ verb, kind }) => {
    if (verb === 'list' && kind === 'Deployment')
      ofQuota(world, { status: { hard: { pods: '1' }, used: { pods: '1', 'count/jobs.batch': `${++used}` } } });
  };
  world.start({}, real);
  await world.clock.advance(10_000);
  assert.ok(used > 0);
  assert.equal(word(world, 'Rehearsed')?.status, 'True');
});

test('a target that keeps moving under the rehearsal: no verdict, and accepted once it is quiet', async () => {
  const world = undoWorld();
  let isBusy = true;
  world.server.hooks.before = ({ verb, kind, dryRun }) => {
    if (isBusy && verb === 'patch' && kind === 'Deployment' && dryRun)
      world.server.change('Deployment', 'shop', 'checkout', { status: { replicas: Math.random() } });
  };
  world.start();
  await world.clock.advance(30_000);
  assert.equal(word(world, 'Rehearsed'), undefined);
  isBusy = false;
  await world.clock.advance(60_000);
  assert.equal(word(world, 'Rehearsed')?.status, 'True');
});

test('an admission webhook that is down while it is rehearsed: said on the card, and rehearsed once it is up again', async () => {
  const world = undoWorld();
  world.server.hooks.before = ({ dryRun }) => {
    if (dryRun) throw new ApiError('failed calling webhook "no-friday": connection refused', 500, 'InternalError');
  };
  world.start();
  await world.clock.advance(300_000);
  assert.deepEqual([word(world, 'Rehearsed')?.status, word(world, 'Rehearsed')?.reason], ['False', 'NoAnswer']);
  assert.match(word(world, 'Rehearsed')?.message ?? '', /no-friday/);
  const writes = world.server.calls.filter(({ verb, kind }) => verb === 'patch' && kind === 'Remediation').length;
  await world.clock.advance(120_000);
  assert.equal(
    world.server.calls.filter(({ verb, kind }) => verb === 'patch' && kind === 'Remediation').length,
    writes,
  );
  delete world.server.hooks.before;
  await world.clock.advance(60_000);
  assert.deepEqual([word(world, 'Rehearsed')?.status, word(world, 'Confirmed')?.status], ['True', 'True']);
  world.approve();
  await world.clock.advance(60_000);
  assert.equal(world.phase(), 'Recovered');
});

test('rights that cannot be minted because something is missing: said on the card, not tried in silence', async () => {
  const world = undoWorld();
  world.server.hooks.before = ({ verb, kind }) => {
    if (verb === 'createSub' && kind === 'ServiceAccount')
      throw new ApiError('serviceaccounts "tapfix-writer" not found', 404, 'NotFound');
  };
  world.start();
  await world.clock.advance(120_000);
  assert.equal(word(world, 'Rehearsed')?.status, 'False');
  assert.match(word(world, 'Rehearsed')?.message ?? '', /serviceaccounts "tapfix-writer" not found/);
});

test('approved with kubectl while it is being rehearsed: the preview that comes then was shown to nobody', async () => {
  const world = undoWorld();
  world.server.change('Remediation', 'shop', world.fix().metadata.name, { spec: { proposedBy: 'ben@example.com' } });
  world.server.hooks.after = async ({ verb, kind, dryRun }) => {
    if (kind === 'Deployment' && dryRun && world.fix().spec.approval.state === 'Pending')
      world.approve('ada@example.com');
    if (verb === 'patch') await world.clock.sleep(20);
  };
  world.start({}, { derive: async () => ({ diagnosis: '', changed: [], evidence: [], rationale: 'no' }) });
  await world.clock.advance(10_000);
  assert.deepEqual([word(world, 'Failed')?.reason, world.changes()], ['NotConfirmed', []]);
});

test('an incident about one workload is no reason to change another', async () => {
  const world = undoWorld();
  const { incident } = world.fix().spec;
  const object = { kind: 'Deployment', name: 'other', uid: 'o' };
  world.server.change('Remediation', 'shop', world.fix().metadata.name, {
    spec: { incident: { ...incident, object } },
  });
  world.start();
  await world.clock.advance(3_000);
  assert.equal(word(world, 'Rehearsed')?.reason, 'WrongTarget');
  world.approve('ada@example.com');
  await world.clock.advance(5_000);
  assert.equal(world.phase(), 'Failed');
  assert.notEqual(imageOf(world.server), good);
});

const minted = ({ server }: World): number =>
  server.calls.filter(({ kind, verb }) => kind === 'RoleBinding' && verb === 'create').length;
const verdict = ({ fix }: World, type: string) => {
  const { status, reason } = conditionOf(fix(), type) ?? {};
  return [status, reason];
};
async function proposed(make: () => World, over = {}): Promise<World> {
  const world = make();
  world.start({}, over);
  await world.clock.advance(3_000);
  return world;
}

/* The rehearsal: no rights are minted for what is refused before. */

const refused: [string, (world: World) => unknown, string][] = [
  [
    'a protected namespace',
    ({ server }) =>
      server.seed('Namespace', undefined, { metadata: { name: 'shop', labels: { 'tapfix.dev/protected': 'true' } } }),
    'ProtectedNamespace',
  ],
  [
    'an action that the configuration does not allow',
    ({ config }) => (config.actions.allow = ['DeleteResourceQuota']),
    'NotAllowed',
  ],
  [
    'a paused Deployment',
    ({ server }) => server.change('Deployment', 'shop', 'checkout', { spec: { paused: true } }),
    'Paused',
  ],
];
for (const [name, prepare, reason] of refused)
  test(`${name} is not rehearsed, and no right is minted for it`, async () => {
    const world = await proposed(() => {
      const made = undoWorld();
      prepare(made);
      return made;
    });
    assert.deepEqual(verdict(world, 'Rehearsed'), ['False', reason]);
    assert.equal(minted(world), 0);
  });

const troubles: [string, Error, unknown[]][] = [
  ['an answer that was lost is asked for again', new Unreachable('reset'), ['True', 'Accepted']],
  ['a server in trouble is asked again', new ApiError('etcd', 500, 'InternalError'), ['True', 'Accepted']],
  ['a target that moved is read again', new ApiError('conflict', 409, 'Conflict'), ['True', 'Accepted']],
  ['a clear no is one', new ApiError('denied', 403, 'Forbidden'), ['False', 'Refused']],
];
for (const [name, error, want] of troubles)
  test(`rehearsing, ${name}`, async () => {
    const world = undoWorld();
    let once = true;
    world.server.hooks.before = ({ verb }) => {
      if (!once || verb !== 'createSub') return;
      once = false;
      throw error;
    };
    world.start();
    await world.clock.advance(10_000);
    assert.deepEqual(verdict(world, 'Rehearsed'), want);
  });

const derived: [string, (own: ActionSpec) => ActionSpec | undefined, string][] = [
  ['the same', (own) => own, 'True'],
  [
    'another revision',
    (own) => ({ ...own, rolloutUndo: { ...(own['rolloutUndo'] as object), toRevision: 2 } }),
    'False',
  ],
  [
    'another target',
    (own) => ({ ...own, rolloutUndo: { ...(own['rolloutUndo'] as object), name: 'payments' } }),
    'False',
  ],
  ['nothing', () => undefined, 'False'],
];
for (const [name, derive, want] of derived)
  test(`the controller itself comes to ${name}: ${want === 'True' ? 'confirmed' : 'not confirmed'}`, async () => {
    const own = undoWorld();
    const action = derive(own.fix().spec.action!);
    const said = { diagnosis: '', changed: [], evidence: [], rationale: 'r', ...(action && { action }) };
    const world = await proposed(() => own, { derive: async () => said });
    assert.equal(verdict(world, 'Confirmed')[0], want);
  });

test('what was judged once is not judged again', async () => {
  const world = undoWorld();
  const conditions = [condition('Proposed', '02:12:35'), condition('Confirmed', '02:12:36', { status: 'False' })];
  world.server.change('Remediation', 'shop', world.fix().metadata.name, { status: { phase: 'Proposed', conditions } });
  world.start();
  await world.clock.advance(3_000);
  assert.deepEqual([verdict(world, 'Rehearsed')[0], verdict(world, 'Confirmed')[0]], ['True', 'False']);
});

test('the labels of a namespace that may not be read are no obstacle, a lost answer is', async () => {
  const world = undoWorld();
  world.server.hooks.before = ({ kind }) => {
    if (kind === 'Namespace')
      throw world.clock.now() < startMs + 5_000 ? new Unreachable('x') : new ApiError('no', 403, 'Forbidden');
  };
  const startMs = world.clock.now();
  world.start();
  await world.clock.advance(4_000);
  assert.equal(conditionOf(world.fix(), 'Rehearsed'), undefined);
  await world.clock.advance(20_000);
  assert.deepEqual(verdict(world, 'Rehearsed'), ['True', 'Accepted']);
});

test('what the watcher writes during a rehearsal does not make it be rehearsed again', async () => {
  const world = undoWorld();
  const { server } = world;
  const rehearsals = () => server.calls.filter(({ dryRun }) => dryRun).length;
  server.hooks.after = ({ dryRun }) => {
    const sightings = { count: rehearsals(), lastSeen: '2026-11-16T03:12:00Z' };
    if (dryRun) server.change('Remediation', 'shop', world.fix().metadata.name, { status: { sightings } });
  };
  world.start();
  await world.clock.advance(5_000);
  assert.deepEqual([rehearsals(), conditionOf(world.fix(), 'Rehearsed')?.status], [1, 'True']);
});
