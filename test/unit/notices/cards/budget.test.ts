import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import {
  cardColumns,
  cardLines,
  headlineHeight,
  heightOf,
  withinBudget,
} from '../../../../src/notices/cards/budget.ts';
import { composeMessage } from '../../../../src/notices/cards/compose.ts';
import type { Card } from '../../../../src/notices/cards/message.ts';
import { aContext, scenes } from '../../../golden/scenes.ts';
import { aFix, approvedByAda, aQuotaFix, at, condition, executed } from '../../../support/fixes.ts';

const heightOfCard = ({ headline, footer }: Card): number =>
  headlineHeight(headline) + footer.reduce((sum, line) => sum + heightOf(line), 0);

const onlyCards = scenes.flatMap((scene) => {
  const { cards, isList } = composeMessage(scene.members, scene.context, scene.form);
  return isList || scene.page !== undefined ? [] : [{ name: scene.name, card: cards[0]! }];
});

for (const { name, card } of onlyCards)
  test(`eight lines of forty columns at most: ${name}`, () =>
    assert.ok(heightOfCard(card) <= cardLines, [card.headline, ...card.footer].join('\n')));

const isAsked = ({ headline, footer }: Card): boolean => !/still|\. /.test(headline) && footer.length > 2;
test('the first three lines are workload and impact, cause, fix or that there is none; each has its line', () => {
  const asked = onlyCards.filter(
    ({ name, card }) => /^(proposed|noticed|quota proposed|past its time)/.test(name) && isAsked(card),
  );
  assert.ok(asked.length > 8);
  for (const { name, card } of asked) {
    const [cause, fix, place] = card.footer as string[];
    assert.match(card.headline, /(is down|is degraded|blocks)/, name);
    assert.match(cause!, /^(Crashing|No node fits|research 0\/1)/, name);
    assert.match(fix!, /^(Fix: |No one-tap fix)/, name);
    assert.match(place!, /prod-eu · #[0-9a-f]{6}/, name);
    for (const line of [cause!, fix!]) assert.ok(line.length <= Math.max(cardColumns, 42), `${name}: ${line}`);
  }
});

const word = fc.string({ minLength: 1, maxLength: 90, unit: fc.constantFrom(...'abcxyz019-.:/') });
const words = fc.array(word, { minLength: 1, maxLength: 40 }).map((all) => all.join(' '));
const name = fc.string({ minLength: 1, maxLength: 253, unit: fc.constantFrom(...'abcxyz019-') });
const field = fc.tuple(word, word, word).map(([path, from, to]) => `${path} image  r/${from} → r/${to}`);
const anyIncident = fc.record({
  name,
  namespace: fc.string({ minLength: 1, maxLength: 63, unit: fc.constantFrom(...'abc-') }),
  failure: fc.constantFrom('CrashLoop', 'ImagePull', 'Unschedulable', 'NodeDown', 'QuotaExceeded', 'JobFailed', 'Mine'),
  diagnosis: fc.array(words, { maxLength: 3 }).map((all) => all.join('; ')),
  rationale: words,
  changed: fc.constantFrom('2026-11-16T02:11:40Z rollout 42: app image 1.41 → 1.42', 'x'),
  diff: fc.array(field, { maxLength: 30 }).map((all) => all.join('\n')),
  state: fc.constantFrom(
    'asked',
    'noticed',
    'approved',
    'rejected',
    'failed',
    'failed and over',
    'recovered',
    'expired',
  ),
  isQuota: fc.boolean(),
  cluster: name,
  note: words,
  affected: fc.array(name, { maxLength: 20 }),
});
type AnyIncident = typeof anyIncident extends fc.Arbitrary<infer T> ? T : never;

function fixOf(one: AnyIncident): Remediation {
  const { state, diagnosis, rationale, changed, note } = one;
  const make = one.isQuota ? aQuotaFix : aFix;
  const approval = { ...approvedByAda, note: note.slice(0, 500) };
  const failed = condition('Failed', '02:24:12', { reason: 'NotRecovered', message: note });
  const over = condition('IncidentCleared', '02:30:00', { reason: 'Ended', message: note });
  const fix = make({
    name: one.name,
    namespace: one.namespace,
    incident: { class: one.failure, reason: note.slice(0, 120) },
    spec: { diagnosis, rationale, context: { changed: [changed], evidence: [note] } },
    status: {
      preview: { diff: one.diff, targetHash: 'h', at: at('02:12:36') },
      sightings: {
        count: 1,
        lastSeen: at('02:13:00'),
        affected: one.affected.map((workload) => `Deployment/${workload}`),
      },
      ...(state.startsWith('failed') && { execution: { ...executed, undo: `kubectl ${note}` } }),
    },
    ...(state === 'approved' && { approval }),
    ...(state === 'rejected' && { approval: { ...approval, state: 'Rejected' as const } }),
    ...(state === 'recovered' && { approval, phase: 'Recovered' as const }),
    ...(state === 'expired' && { phase: 'Expired' as const }),
    ...(state.startsWith('failed') && {
      approval,
      phase: 'Failed' as const,
      conditions: state === 'failed' ? [failed] : [failed, over],
    }),
  });
  if (state === 'noticed') delete fix.spec.action;
  return fix;
}

test('eight lines of forty columns at most, whatever the names, the diagnosis, the reasons and the diff are', () => {
  fc.assert(
    fc.property(anyIncident, fc.boolean(), (one, isAskedOnceMore) => {
      const asked = { by: 'telegram:1', name: one.name, untilMs: Date.parse(at('02:14:50')) };
      const context = aContext({ cluster: one.cluster, confirming: () => (isAskedOnceMore ? asked : undefined) });
      const [card] = composeMessage([fixOf(one)], context).cards;
      assert.ok(heightOfCard(card!) <= cardLines, [card!.headline, ...card!.footer].join('\n'));
      if (one.state === 'asked') assert.match(String(card!.footer[1]), /^(Fix: |No one-tap fix)/);
    }),
    { numRuns: 400, seed: 1 },
  );
});

test('what is important gets its room first, and the order of reading stays', () => {
  const lines = withinBudget('web is down', [
    { lines: ['a'.repeat(400)], most: 8, rank: 2 },
    { lines: ['the place'], most: 1, rank: 1 },
    { lines: ['To undo:', { command: 'x'.repeat(400), orElse: 'x' }], most: 4, rank: 3, orElse: 'not here' },
  ]);
  assert.deepEqual(lines.slice(1), ['the place']);
  assert.equal(
    lines.reduce((sum, line) => sum + heightOf(line), 1),
    cardLines,
  );
});

test('half a command is never shown, and says where the whole one is', () => {
  const command = { command: 'x'.repeat(400), orElse: 'x' };
  assert.deepEqual(withinBudget('web is down', [{ lines: ['with', command], most: 8, rank: 1, orElse: 'see there' }]), [
    'see there',
  ]);
});
