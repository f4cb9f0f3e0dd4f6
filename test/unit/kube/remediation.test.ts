import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isAttested,
  isKeyedHere,
  replacedIn,
  time,
  viewRemediation,
  withCondition,
} from '../../../src/kube/remediation.ts';
import { iso } from '../../../src/lib/clock.ts';
import { aFix, condition, uidOf } from '../../support/fixes.ts';

test('the time of a condition moves only when its status does', () => {
  const list = [condition('Confirmed', '02:00:00', { status: 'False', message: 'a' })];
  const timeAfter = (status: 'True' | 'False') =>
    withCondition(list, condition('Confirmed', '03:00:00', { status, message: 'b' }))[0]?.lastTransitionTime;
  assert.deepEqual([timeAfter('False'), timeAfter('True')], ['2026-11-16T02:00:00Z', '2026-11-16T03:00:00Z']);
});

const deciders: [string | undefined, boolean][] = [
  ['telegram:123456789', true],
  ['slack:U012AB3CD', true],
  ['ada@example.com', false],
  ['oidc:telegram:7', false],
  [undefined, false],
];
for (const [by, want] of deciders)
  test(`${by} is ${want ? 'the word of the watcher' : 'nobody in a chat'}`, () => assert.equal(isAttested(by), want));

test('what others wrote beside a record is not kept', () => {
  const fix = aFix();
  const annotations = { 'tapfix.dev/acknowledged-by': 'ada', note: 'x'.repeat(200_000) };
  const view = viewRemediation({
    ...fix,
    metadata: { ...fix.metadata, annotations, labels: { a: 'b' }, managedFields: [{ manager: 'kubectl' }] },
  } as never);
  assert.deepEqual(view?.metadata, { ...fix.metadata, annotations: { 'tapfix.dev/acknowledged-by': 'ada' } });
});

const keys: [string, string, string, boolean][] = [
  ['its own', 'shop', 'shop/Deployment/web', true],
  ['a Node, in tapfix’s own namespace', 'tapfix', 'tapfix/Node/worker-3', true],
  ['another namespace’s', 'mail', 'shop/Deployment/web', false],
  ['one whose name begins alike', 'sho', 'shop/Deployment/web', false],
  ['and the other way round', 'shop-b', 'shop/Deployment/web', false],
  ['a Node, in a team’s namespace', 'shop', 'tapfix/Node/worker-3', false],
  ['no namespace at all', 'shop', 'Deployment/web', false],
];
for (const [what, namespace, key, want] of keys)
  test(`a key that names ${what} is ${want ? '' : 'not '}believed`, () =>
    assert.equal(isKeyedHere(aFix({ namespace, incident: { key } })), want));

const first = aFix();
const { name, uid } = first.metadata;
const claims: [string, Parameters<typeof aFix>[0], boolean][] = [
  ['the same incident', { spec: { follows: { name, uid } } }, true],
  ['another namespace', { namespace: 'mail', spec: { follows: { name, uid } } }, false],
  ['another incident', { name: 'web', spec: { follows: { name, uid } } }, false],
  ['another record of that name', { spec: { follows: { name, uid: uidOf(99) } } }, false],
  ['a record of another name', { spec: { follows: { name: 'x', uid } } }, false],
];
for (const [what, over, want] of claims)
  test(`one that says it follows, of ${what}: ${want ? 'its successor' : 'not believed'}`, () =>
    assert.deepEqual([...replacedIn([first, aFix({ n: 2, ...over })])], want ? [uid] : []));

const times: [string, boolean][] = [
  [iso(0), true],
  [iso(Date.parse('2026-11-16T03:00:00.999Z')), true],
  ['2026-11-16T03:00:00Z', true],
  ['2026-11-16T03:00:00.123456Z', true],
  ['2026-11-16T03:00:00+05:45', true],
  ['2026-11-16T03:00:00-23:59', true],
  ['2026-01-01T10:00:00+99:99', false],
  ['2026-01-01T10:00:00+24:00', false],
  ['2026-01-01T10:00:00+10:60', false],
  ['2026-01-01t10:00:00z', false],
  ['2026-01-01T10:00:00', false],
  ['2026-00-01T10:00:00Z', false],
  ['2026-01-32T10:00:00Z', false],
  ['2026-01-01T24:00:00Z', false],
  ['2026-01-01T10:00:60Z', false],
  ['0000-01-01T10:00:00Z', false],
  ['2026-01-01T10:00:00Z\n', false],
];
for (const [at, want] of times)
  test(`${JSON.stringify(at)} is ${want ? 'a time' : 'no time that a record may have'}`, () =>
    assert.equal(time.safeParse(at).success, want));
