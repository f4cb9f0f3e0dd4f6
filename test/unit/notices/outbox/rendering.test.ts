import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import { stateHash } from '../../../../src/notices/outbox/rendering.ts';
import { aContext } from '../../../golden/scenes.ts';
import { aFix, approvedByAda, aQuotaFix, at, condition } from '../../../support/fixes.ts';

const sightings = (ready: number, count = 14) => ({ count, lastSeen: at('02:15:00'), ready, desired: 3 });
const hash = (fix: Remediation, over = {}) => stateHash([fix], aContext(over));
const applied = (ready: number) =>
  aFix({ phase: 'Applied', approval: approvedByAda, status: { sightings: sightings(ready) } });
const ended = (phase: 'Failed' | 'Recovered', ready: number) =>
  aFix({ phase, approval: approvedByAda, status: { sightings: sightings(ready) } });
const asked = () => ({ by: 'telegram:1', name: 'Ada', untilMs: aContext().nowMs + 1 });

const same: [string, string, string][] = [
  ['counts alone', hash(aFix()), hash(aFix({ status: { sightings: sightings(2, 99) } }))],
  ['the time of day', hash(aFix()), hash(aFix(), { nowMs: aContext().nowMs + 60_000 })],
  ['a condition nobody is shown', hash(aFix()), hash(aFix({ conditions: [condition('Something', '02:15:00')] }))],
  [
    'who may approve, once it is over',
    hash(aFix({ phase: 'Resolved' })),
    hash(aFix({ phase: 'Resolved' }), { approvable: () => false }),
  ],
  ['a question about something that asks none', hash(aFix()), hash(aFix(), { confirming: asked })],
  [
    'the order of members',
    stateHash([aFix(), aFix({ n: 2 })], aContext()),
    stateHash([aFix({ n: 2 }), aFix()], aContext()),
  ],
];
for (const [name, a, b] of same) test(`no edit for ${name}`, () => assert.equal(a, b));

const different: [string, string, string][] = [
  ['a decision', hash(aFix()), hash(aFix({ approval: approvedByAda }))],
  ['the rehearsal', hash(aFix({ unrehearsed: true })), hash(aFix())],
  ['a new phase', hash(applied(0)), hash(aFix({ phase: 'Recovered', approval: approvedByAda }))],
  ['progress while it is applied', hash(applied(1)), hash(applied(2))],
  ['progress after it failed', hash(ended('Failed', 0)), hash(ended('Failed', 1))],
  ['the count that comes after it recovered', hash(ended('Recovered', 0)), hash(ended('Recovered', 3))],
  ["the approvers' list", hash(aFix()), hash(aFix(), { approvable: () => false })],
  ['a question', hash(aQuotaFix()), hash(aQuotaFix(), { confirming: asked })],
  ['a new member', hash(aFix()), stateHash([aFix(), aFix({ n: 2 })], aContext())],
];
for (const [name, a, b] of different) test(`an edit for ${name}`, () => assert.notEqual(a, b));

describe('what else is an edit', () => {
  const failed = aFix({ phase: 'Failed', conditions: [condition('Failed', '02:12:50')] });
  const healed = aFix({
    phase: 'Failed',
    conditions: [condition('Failed', '02:12:50'), condition('IncidentCleared', '02:12:55')],
  });

  /* What is an edit. */

  const hash = (fix: Remediation) => stateHash([fix], aContext());
  const preview = (diff: string) => aFix({ status: { preview: { diff, targetHash: 'abc', at: at('02:12:36') } } });
  const rehearsal = (message: string) =>
    aFix({ unrehearsed: true, conditions: [condition('Rehearsed', '02:12:36', { status: 'False', message })] });
  const confirmation = (status: 'True' | 'False') =>
    aFix({
      unrehearsed: true,
      conditions: [condition('Rehearsed', '02:12:36'), condition('Confirmed', '02:12:36', { status })],
    });
  const by = (who: string) => aFix({ phase: 'Approved', approval: { ...approvedByAda, by: who } });
  const edits: [string, Remediation, Remediation][] = [
    ['another diff', preview('a'), preview('b')],
    ['why the rehearsal failed', rehearsal('a'), rehearsal('b')],
    ['that the controller does not confirm it', confirmation('True'), confirmation('False')],
    ['who approved', by('telegram:1'), by('telegram:2')],
    ['that what failed is healthy by now', failed, healed],
  ];
  for (const [name, a, b] of edits) test(`an edit for ${name}`, () => assert.notEqual(hash(a), hash(b)));
});
