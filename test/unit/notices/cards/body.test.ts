import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import { showsWholeDiff } from '../../../../src/notices/cards/body.ts';
import { cardContext } from '../../../../src/notices/cards/card-context.ts';
import { composeMessage } from '../../../../src/notices/cards/compose.ts';
import { aContext } from '../../../golden/scenes.ts';
import { aFix, aQuotaFix, approvedByAda, at, condition, executed, type FixOptions } from '../../../support/fixes.ts';

const card = (fix: Remediation, over = {}) => composeMessage([fix], aContext(over)).cards[0]!;
const allLabels = (fix: Remediation, over = {}) =>
  card(fix, over)
    .buttons.flat()
    .map(({ label }) => label);
/** Of what decides. */
const labels = (...of: Parameters<typeof allLabels>): string[] =>
  allLabels(...of).filter((label) => !/^(I'm on it|Details|Snooze 1h)$/.test(label));

const after = { nowMs: Date.parse(at('02:42:45')) };
test('its time is up and the controller is away: the buttons go, and the card says why', () => {
  assert.deepEqual(labels(aFix(), { nowMs: after.nowMs - 1 }), ['Roll back to 1.41', 'Reject']);
  assert.deepEqual(labels(aFix(), after), []);
  assert.deepEqual(card(aFix(), after).footer.slice(2, 4), [
    'shop · prod-eu · #9001cb · expired 03:42',
    'Nothing was changed',
  ]);
});

const without: [string, FixOptions, object, string[], string][] = [
  [
    'switched off in the configuration',
    {},
    { allowed: () => false },
    ['Reject'],
    'RolloutUndo is switched off in the configuration',
  ],
  [
    'of another version',
    { spec: { action: { type: 'RebootNode', rebootNode: {} } } },
    {},
    ['Reject'],
    'Another version of tapfix proposed this; this one cannot do it',
  ],
];
for (const [name, over, context, buttons, footer] of without)
  test(`an action that is ${name} has no Approve`, () => {
    assert.deepEqual(labels(aFix(over), context), buttons);
    assert.equal(card(aFix(over), context).footer[3], footer);
  });

test('what was about to be applied and was not, and there is nothing to undo', () => {
  const { headline, footer } = card(
    aFix({
      phase: 'Failed',
      approval: approvedByAda,
      status: { execution: { startedAt: executed.startedAt, undo: executed.undo } },
      conditions: [condition('Failed', '02:14:12', { reason: 'TargetChanged', message: 'the Deployment has changed' })],
    }),
  );
  assert.equal(headline, 'checkout is still down, 0/3 ready. The rollback was not applied: the Deployment has changed');
  assert.deepEqual(footer, ['shop · prod-eu · #9001cb']);
});

test('approved with its time over', () => {
  const late = { ...approvedByAda, at: at('02:50:00') };
  const fix = aFix({
    phase: 'Expired',
    approval: late,
    conditions: [condition('Expired', '02:50:01', { reason: 'TooLate' })],
  });
  assert.equal(
    card(fix, { nowMs: Date.parse(at('02:51:00')) }).headline,
    'checkout is still down, 0/3 ready. Approved by Ada after it had expired at 03:42',
  );
});

const preview = (diff: string) => ({ status: { preview: { diff, targetHash: 'h', at: at('02:12:36') } } });
const image = 'app image  shop/checkout:1.42 → shop/checkout:1.41';
const diffs: [name: string, diff: string, button: string, block: string | undefined, isWhole: boolean][] = [
  ['the image is all that differs', image, 'Roll back to 1.41', undefined, true],
  ['the image comes from elsewhere', 'app image  shop/checkout:1.42 → evil/checkout:1.41', 'Roll back to revision 41', 'app image  shop/checkout:1.42 → evil/checkout:1.41', true],
  ['two fields differ', `${image}\napp env A  1 → 2`, 'Roll back to 1.41', `${image}\napp env A  1 → 2`, true],
  ['another field differs', 'app env A  1 → 2', 'Roll back to revision 41', 'app env A  1 → 2', true],
  ['more differs than there is room for', Array.from({ length: 9 }, (_, n) => `app env A${n}  1 → 2`).join('\n'), 'Roll back to revision 41', undefined, false],
]; // prettier-ignore
for (const [name, diff, button, block, isWhole] of diffs)
  test(`the diff on the card, and on the button, when ${name}`, () => {
    const fix = aFix(preview(diff));
    const blocks = card(fix).footer.flatMap((line) => (typeof line !== 'string' && 'code' in line ? [line.code] : []));
    assert.deepEqual([labels(fix)[0], ...blocks], [button, ...(block === undefined ? [] : [block])]);
    assert.equal(showsWholeDiff(fix, cardContext(fix, aContext())), isWhole);
  });

const limits = (count: number): string[] => Array.from({ length: count }, (_, n) => `count/things${n} ${n}`);
for (const [count, isWhole] of [
  [1, true],
  [2, true],
  [3, true],
  [9, false],
] as const)
  // prettier-ignore
  test(`a quota of ${count} limits: ${isWhole ? 'the card shows all that is deleted' : 'they are shown before it counts'}`, () => {
    const retry = 'then make 2 owners retry at once: ReplicaSet api-7d9f8b6c5d, ReplicaSet web-7d9f8b6c5d';
    const lines = ['delete ResourceQuota tight', ...limits(count).map((line) => `  ${line.replace(' ', '  ')}`), retry];
    const fix = aQuotaFix(preview(lines.join('\n')));
    const blocks = card(fix).footer.flatMap((line) => (typeof line !== 'string' && 'code' in line ? [line.code] : []));
    assert.deepEqual(blocks, count > 1 && isWhole ? [limits(count).join(', ')] : []);
    assert.equal(showsWholeDiff(fix, cardContext(fix, aContext())), isWhole);
  });

test('a rejected, an expired and a failed one stay red while it is broken, and turn grey when it is cleared', () => {
  const cleared = condition('IncidentCleared', '02:50:00');
  const ends: FixOptions[] = [
    { approval: { ...approvedByAda, state: 'Rejected' } },
    { phase: 'Expired' },
    { phase: 'Failed', approval: approvedByAda, status: { execution: executed, sightings: sighted } },
  ];
  for (const end of ends) {
    const broken = card(aFix(end));
    assert.equal(broken.dot, 'red');
    assert.match(broken.headline, /^checkout is still down, 0\/3 ready[.,] /);
    assert.ok(
      broken.buttons.flat().some(({ label }) => label === "I'm on it"),
      broken.headline,
    );
    const over = card(aFix({ ...end, conditions: [cleared] }));
    assert.deepEqual([over.dot, over.buttons], ['grey', []]);
    assert.match(over.headline, /^checkout is healthy again\. /);
  }
});
const sighted = { count: 1, lastSeen: at('02:24:00'), ready: 0, desired: 3 };

test('a fix that did not help is not offered again; one that was never applied is', () => {
  const failed = (over: object) =>
    aFix({ phase: 'Failed', approval: approvedByAda, status: { execution: over, sightings: sighted } });
  assert.deepEqual(labels(failed(executed)), []);
  assert.deepEqual(labels(failed({})), ['Propose again']);
});
