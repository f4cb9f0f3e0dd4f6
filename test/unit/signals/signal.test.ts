import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identityOf, type Signal } from '../../../src/signals/signal.ts';

const signal: Signal = { class: 'QuotaExceeded', namespace: 'shop', object: { kind: 'ReplicaSet', name: 'a', uid: 'u' }, cause: { kind: 'ResourceQuota', name: 'q' }, reason: 'r', message: 'm' }; // prettier-ignore
const others: [string, Partial<Signal>, boolean][] = [
  ['in other words', { reason: 'x', message: 'y', listed: true }, true],
  ['of another quota', { cause: { kind: 'ResourceQuota', name: 'p' } }, false],
  ['of another object of the same name', { object: { ...signal.object, uid: 'v' } }, false],
  ['of another class', { class: 'CrashLoop' }, false],
  ['in another namespace', { namespace: 'pay' }, false],
];
for (const [name, over, isSame] of others)
  test(`the same trouble ${name} is ${isSame ? 'one observation' : 'two'}`, () =>
    assert.equal(identityOf({ ...signal, ...over }) === identityOf(signal), isSame));
