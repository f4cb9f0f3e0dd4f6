import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { aStreet, comeUp, crashLoop, podSignal, type Street } from '../../support/street.ts';

/** A crash loop that was told, with an undo on offer. */
async function aToldCrash() {
  const street = aStreet();
  const { goodRevision } = crashLoop(street);
  const process = street.start();
  const view = { uid: goodRevision, desired: 1, available: 1 } as never;
  process.history.observe(view, street.clock.now() - 3_600_000);
  process.onSignal(podSignal(street));
  await street.advance(31_000);
  return { street, process };
}

const fixNamed = ({ fixes }: Street, n: number): Remediation =>
  fixes().find(({ metadata }) => metadata.name.endsWith(`-${n}`))!;

/** As the controller leaves one that was applied, and did not help. */
function failAfterApplying({ server, phase, clock }: Street, name: string): void {
  const appliedAt = new Date(clock.now()).toISOString();
  server.change('Remediation', 'shop', name, { status: { execution: { startedAt: appliedAt, appliedAt } } });
  phase(name, 'Failed');
}

for (const ended of ['Expired', 'Failed'])
  test(`${ended}: the next one follows it, offers the same from a fresh reading, and holds the key`, async () => {
    const { street, process } = await aToldCrash();
    const first = fixNamed(street, 1);
    street.phase(first.metadata.name, ended);
    await street.advance(2_000);
    const again = await process.proposeAgain(first);
    const second = fixNamed(street, 2);
    assert.deepEqual(again, { ok: true, name: second.metadata.name });
    assert.deepEqual(second.spec.follows, { name: first.metadata.name, uid: first.metadata.uid });
    assert.deepEqual(second.spec.action, first.spec.action);
    assert.equal(second.spec.incident.firstSeen, first.spec.incident.firstSeen);
    assert.deepEqual(second.spec.approval, { state: 'Pending' });
    assert.equal(second.status?.preview, undefined);
    await street.advance(120_000);
    assert.equal(street.fixes().length, 2);
  });

test('two press at once: one proposal, and the other is told; so is who presses the old card later', async () => {
  const { street, process } = await aToldCrash();
  const first = fixNamed(street, 1);
  street.phase(first.metadata.name, 'Expired');
  await street.advance(2_000);
  const answers = await Promise.all([process.proposeAgain(first), process.proposeAgain(first)]);
  assert.deepEqual(
    answers.map((answer) => answer.ok || answer.because),
    [true, 'replaced'],
  );
  assert.deepEqual(await process.proposeAgain(first), { ok: false, because: 'replaced' });
  assert.equal(street.fixes().length, 2);
});

test('what was applied in this episode and did not help is not offered again, however long ago', async () => {
  const { street, process } = await aToldCrash();
  const first = fixNamed(street, 1);
  const appliedAt = new Date(street.clock.now()).toISOString();
  failAfterApplying(street, first.metadata.name);
  await street.advance(2 * 3_600_000);
  const why = `the same fix was applied at ${appliedAt} and did not help`;
  assert.deepEqual(await process.proposeAgain(first), { ok: false, because: 'nothing', why });
  assert.equal(street.fixes().length, 1);
});

test('what looks healthy, is over, is pending or is gone is not proposed again', async () => {
  const { street, process } = await aToldCrash();
  const first = fixNamed(street, 1);
  assert.deepEqual(await process.proposeAgain(first), { ok: false, because: 'over' }, 'it can still be decided');
  street.phase(first.metadata.name, 'Expired');
  comeUp(street, 3);
  await street.advance(2_000);
  assert.deepEqual(await process.proposeAgain(first), { ok: false, because: 'healthy' });
  await street.advance(600_000);
  assert.equal(street.cleared().length, 1);
  assert.deepEqual(await process.proposeAgain(first), { ok: false, because: 'over' });
  street.server.remove('Remediation', 'shop', first.metadata.name);
  assert.deepEqual(await process.proposeAgain(first), { ok: false, because: 'gone' });
  assert.equal(street.fixes().length, 0);
});

test('an annotation asks for the same with kubectl, once', async () => {
  const { street } = await aToldCrash();
  const { name } = fixNamed(street, 1).metadata;
  const annotations = { 'tapfix.dev/propose-again': 'true' };
  street.server.change('Remediation', 'shop', name, { metadata: { annotations } });
  await street.advance(10_000);
  assert.equal(street.fixes().length, 1, 'it can still be decided');
  street.phase(name, 'Expired');
  await street.advance(10_000);
  assert.equal(fixNamed(street, 2).spec.follows?.name, name);
  await street.advance(300_000);
  assert.equal(street.fixes().length, 2);
});

test('at most ten proposals of one episode', async () => {
  const { street, process } = await aToldCrash();
  for (let n = 1; n < 10; n++) {
    street.phase(fixNamed(street, n).metadata.name, 'Expired');
    await street.advance(2_000);
    assert.equal((await process.proposeAgain(fixNamed(street, n))).ok, true);
  }
  street.phase(fixNamed(street, 10).metadata.name, 'Expired');
  await street.advance(2_000);
  assert.deepEqual(await process.proposeAgain(fixNamed(street, 10)), { ok: false, because: 'too often' });
});
