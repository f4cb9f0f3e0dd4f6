import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aToyStreet, type ToyStreet, undoTo } from '../../support/toys.ts';

/* One workload, one card: the class is what names it. */

const outcomes = ({ outcomes: all }: ToyStreet): Record<string, number> =>
  Object.fromEntries([...new Set(all)].map((one) => [one, all.filter((it) => it === one).length]));

test('an OOM loop is also a crash loop: one card, about memory', async () => {
  const street = aToyStreet();
  street.is('api', ['CrashLoop', 'OOMKilled']);
  const process = street.start();
  process.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(5_000);
  process.onSignal(street.signal('OOMKilled', 'api'));
  await street.advance(120_000);
  assert.deepEqual(street.told(), ['OOMKilled api 1']);
  assert.deepEqual(outcomes(street), { Told: 2 });
});

test('a bad image left ten minutes is also a stuck rollout: one card, and it stays about the image', async () => {
  const street = aToyStreet();
  street.is('api', ['ImagePull']);
  const process = street.start();
  process.onSignal(street.signal('ImagePull', 'api'));
  await street.advance(600_000);
  street.is('api', ['ImagePull', 'RolloutStuck']);
  process.onSignal(street.signal('RolloutStuck', 'api'));
  await street.advance(300_000);
  assert.deepEqual(street.told(), ['ImagePull api 1']);
  assert.deepEqual(outcomes(street), { Told: 1, Repeated: 1 });
});

test('what was more specific is over before anybody was told, the rest is not: told as what it is', async () => {
  const street = aToyStreet();
  street.is('api', ['ProbeFailing', 'CrashLoop']);
  const process = street.start();
  process.onSignal(street.signal('ProbeFailing', 'api'));
  process.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(20_000);
  street.is('api', ['ProbeFailing']);
  await street.advance(99_000);
  assert.deepEqual(street.told(), [], 'a probe has two minutes');
  await street.advance(3_000);
  assert.deepEqual(street.told(), ['ProbeFailing api 1']);
});

/* While nobody has decided, the diagnosis may change. */

async function told(failureClass: string, action?: ReturnType<typeof undoTo>) {
  const street = aToyStreet();
  street.helps('api', action);
  street.is('api', [failureClass]);
  const process = street.start();
  process.onSignal(street.signal(failureClass, 'api'));
  await street.advance(125_000);
  return { street, process };
}

test('something more specific is seen: a successor, in whose message the first one goes on', async () => {
  const { street, process } = await told('ProbeFailing');
  street.is('api', ['ProbeFailing', 'CrashLoop']);
  process.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(25_000);
  assert.deepEqual(street.told(), ['ProbeFailing api 1'], 'its own patience first');
  await street.advance(60_000);
  assert.deepEqual(street.told(), ['ProbeFailing api 1', 'CrashLoop api 2 after 1']);
  const [first, second] = street.fixes();
  assert.deepEqual(second?.spec.follows, { name: first?.metadata.name, uid: first?.metadata.uid });
  assert.equal(second?.spec.incident.firstSeen, first?.spec.incident.firstSeen);
  await street.advance(600_000);
  assert.equal(street.fixes().length, 2, 'one change, one successor');
});

test('what is less specific, or not true, changes nothing', async () => {
  const { street, process } = await told('CrashLoop');
  process.onSignal(street.signal('RolloutStuck', 'api'));
  process.onSignal(street.signal('OOMKilled', 'api')); // but no reading confirms it
  await street.advance(300_000);
  assert.deepEqual(street.told(), ['CrashLoop api 1']);
});

test('what was told is over and something else is wrong, less specific or not: a successor that says so', async () => {
  const { street, process } = await told('ImagePull', undoTo('api', 3));
  street.is('api', ['CrashLoop']); // the image is there by now
  process.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(50_000);
  assert.deepEqual(street.told(), ['ImagePull api 1 RolloutUndo'], 'it may be back in a moment');
  await street.advance(30_000);
  assert.deepEqual(street.told(), ['ImagePull api 1 RolloutUndo', 'CrashLoop api 2 RolloutUndo after 1']);
  await street.advance(600_000);
  assert.equal(street.fixes().length, 2);
});

test('a moment in which what was told is not so, or in which all is well, takes its name from nobody', async () => {
  const { street, process } = await told('CrashLoop');
  street.is('api', ['CrashLoop', 'ProbeFailing']);
  process.onSignal(street.signal('ProbeFailing', 'api'));
  await street.advance(125_000);
  for (const now of [['ProbeFailing'], [], ['ProbeFailing'], ['CrashLoop', 'ProbeFailing'], ['ProbeFailing']]) {
    street.is('api', now);
    await street.advance(now.length > 0 ? 40_000 : 10_000);
  }
  assert.deepEqual(street.told(), ['CrashLoop api 1']);
});

test('pods that are new have had it for a moment only: what others have does not take its place meanwhile', async () => {
  const { street, process } = await told('Unschedulable');
  process.onSignal(street.signal('ProbeFailing', 'api'));
  street.is('api', ['Unschedulable', 'ProbeFailing'], { lastingMs: { Unschedulable: 5_000 } });
  await street.advance(300_000);
  assert.deepEqual(street.told(), ['Unschedulable api 1']);
});

for (const outcome of ['RolloutStuck', 'JobFailed', 'Evicted'])
  test(`what came of it (${outcome}) does not take the place of why`, async () => {
    const { street, process } = await told('ImagePull');
    street.is('api', [outcome]);
    process.onSignal(street.signal(outcome, 'api'));
    await street.advance(300_000);
    assert.deepEqual(street.told(), ['ImagePull api 1']);
  });

test('proposed again: as what it is by then', async () => {
  const { street, process } = await told('ImagePull', undoTo('api', 3));
  const [first] = street.fixes();
  street.phase(first!.metadata.name, 'Expired');
  street.is('api', ['CrashLoop']);
  process.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(35_000);
  await process.proposeAgain(first!);
  assert.deepEqual(street.told(), ['ImagePull api 1 RolloutUndo', 'CrashLoop api 2 RolloutUndo after 1']);
});

test('another fix for the same trouble: a successor; the same one again, or none any more: nothing', async () => {
  const { street } = await told('CrashLoop', undoTo('api', 3));
  await street.advance(300_000);
  assert.deepEqual(street.told(), ['CrashLoop api 1 RolloutUndo']);
  street.helps('api', undefined); // after a restart nobody remembers what was healthy
  await street.advance(300_000);
  assert.deepEqual(street.told(), ['CrashLoop api 1 RolloutUndo']);
  street.helps('api', undoTo('api', 4));
  await street.advance(70_000);
  assert.deepEqual(street.told(), ['CrashLoop api 1 RolloutUndo', 'CrashLoop api 2 RolloutUndo after 1']);
});

test('a fix is found after all: a successor that offers it', async () => {
  const { street } = await told('CrashLoop');
  street.helps('api', undoTo('api', 3));
  await street.advance(70_000);
  assert.deepEqual(street.told(), ['CrashLoop api 1', 'CrashLoop api 2 RolloutUndo after 1']);
});

test('the target is another than was shown: a successor, as was promised to whoever pressed', async () => {
  const { street } = await told('CrashLoop', undoTo('api', 3));
  street.changes('api');
  await street.advance(70_000);
  assert.deepEqual(street.told().slice(0, 2), ['CrashLoop api 1 RolloutUndo', 'CrashLoop api 2 RolloutUndo after 1']);
});

for (const phase of ['Approved', 'Applying', 'Applied', 'Failed', 'Rejected', 'Expired'])
  test(`once it is ${phase} nothing replaces it`, async () => {
    const { street, process } = await told('CrashLoop', undoTo('api', 3));
    street.phase(street.fixes()[0]!.metadata.name, phase);
    street.is('api', ['CrashLoop', 'OOMKilled']);
    street.helps('api', undoTo('api', 4));
    process.onSignal(street.signal('OOMKilled', 'api'));
    await street.advance(300_000);
    assert.equal(street.fixes().length, 1);
  });

test('somebody decides while the successor is being thought about: that counts', async () => {
  const { street } = await told('CrashLoop', undoTo('api', 3));
  const { name } = street.fixes()[0]!.metadata;
  street.helps('api', undoTo('api', 4));
  street.server.hooks.before = ({ kind, verb }) => {
    if (kind === 'Remediation' && verb === 'get')
      street.server.change('Remediation', 'shop', name, { spec: { approval: { state: 'Approved', by: 'ada' } } });
  };
  await street.advance(120_000);
  assert.equal(street.fixes().length, 1);
});

test('a target that never stays the same: no more than one successor a minute, and no more than ten', async () => {
  const { street } = await told('CrashLoop', undoTo('api', 3));
  street.changes('api');
  await street.advance(300_000);
  assert.ok(street.fixes().length <= 6, `${street.fixes().length} in five minutes`);
  await street.advance(1_800_000);
  assert.equal(street.fixes().length, 10);
});

test('the end of the episode is the end of all of them', async () => {
  const { street, process } = await told('ProbeFailing');
  street.is('api', ['CrashLoop']);
  process.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(90_000);
  street.phase(street.fixes()[0]!.metadata.name, 'Superseded');
  street.is('api', []);
  await street.advance(60_000);
  assert.equal(street.cleared().length, 2);
  street.is('api', ['CrashLoop']);
  process.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(35_000);
  assert.equal(street.told().at(-1), 'CrashLoop api 3');
});
