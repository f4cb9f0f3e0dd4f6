import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Config } from '../../../src/config/schema.ts';
import { fold, type Incident, reconfigured } from '../../../src/incidents/incident.ts';
import { classOf } from '../../../src/signals/classes.ts';
import { SignalOutcome } from '../../../src/signals/signal.ts';
import { aConfig } from '../../support/config.ts';
import { aFix } from '../../support/fixes.ts';

const key = aFix().spec.incident.key;

const signal = (failureClass: string) => ({
  class: failureClass,
  namespace: 'shop',
  object: { kind: 'Pod', name: 'p', uid: 'p' },
  reason: 'R',
  message: failureClass,
});
const object = { kind: 'Deployment', name: 'checkout', uid: 'd' };
const seen = (failureClass: string, specificity: number, atMs: number, forMs = 30_000) =>
  ({
    key,
    namespace: 'shop',
    object,
    signal: signal(failureClass),
    row: { severity: 'critical', readable: true, specificity, forMs },
    nowMs: atMs,
  }) as const;
const first = fold(undefined, seen('CrashLoop', 50, 0));
const listed = { ...seen('CrashLoop', 50, 5_000), signal: { ...signal('CrashLoop'), listed: true } };

const folds: [string, Incident, Partial<Incident>, string[]][] = [
  ['the first one begins its patience', first, { dueMs: 30_000, firstSeenMs: 0, count: 1 }, ['CrashLoop 1']],
  [
    'the same again is counted',
    fold(first, seen('CrashLoop', 50, 5_000)),
    { dueMs: 30_000, lastSeenMs: 5_000, count: 2 },
    ['CrashLoop 2'],
  ],
  ['a list that still has it is no second sighting', fold(first, listed), { count: 2 }, ['CrashLoop 1']],
  [
    'a vaguer class is a symptom',
    fold(first, seen('RolloutStuck', 10, 5_000)),
    { count: 2, dueMs: 30_000 },
    ['CrashLoop 1', 'RolloutStuck 1'],
  ],
  [
    'a more specific class names it',
    fold(first, seen('OOMKilled', 60, 5_000)),
    { dueMs: 30_000 },
    ['OOMKilled 1', 'CrashLoop 1'],
  ],
  [
    'and may make it due earlier',
    fold(first, seen('OOMKilled', 60, 5_000, 0)),
    { dueMs: 5_000 },
    ['OOMKilled 1', 'CrashLoop 1'],
  ],
  [
    'a signal without uid keeps the one that is known',
    fold(first, { ...seen('CrashLoop', 50, 1), object: { ...object, uid: '' } }),
    { object },
    ['CrashLoop 2'],
  ],
  [
    'what was there at the start stays so',
    fold(fold(undefined, { ...listed, signal: { ...listed.signal, atStart: true } }), seen('OOMKilled', 60, 1)),
    { atStart: true },
    ['OOMKilled 1', 'CrashLoop 1'],
  ],
];
for (const [name, incident, want, classes] of folds)
  test(name, () => {
    assert.deepEqual({ ...incident, ...want }, incident);
    assert.deepEqual(
      incident.seen.map((one) => `${one.class} ${one.count}`),
      classes,
    );
  });

describe('a new configuration', () => {
  const object = { kind: 'Deployment', name: 'web', uid: 'u' };
  const seen = (failureClass: string, nowMs: number) => ({
    key: 'shop/Deployment/web',
    namespace: 'shop',
    object,
    signal: { class: failureClass, reason: failureClass, message: '', namespace: 'shop', object },
    row: classOf(failureClass, aConfig()),
    nowMs,
  });
  /** A crash at 1 s (patience 30 s), a stuck rollout at 2 s (none). */
  const incident = fold(fold(undefined, seen('CrashLoop', 1_000)), seen('RolloutStuck', 2_000));

  const cases: [string, Partial<Config>, string | { classes: string[]; dueMs: number }][] = [
    ['the same', {}, { classes: ['CrashLoop', 'RolloutStuck'], dueMs: 2_000 }],
    [
      'one of its classes is switched off: the other one names it, with its patience',
      { classes: { RolloutStuck: { enabled: false } } },
      { classes: ['CrashLoop'], dueMs: 31_000 },
    ],
    [
      'more patience counts from when it was first seen',
      { classes: { RolloutStuck: { enabled: false }, CrashLoop: { for: 60_000 } } },
      { classes: ['CrashLoop'], dueMs: 61_000 },
    ],
    [
      'all of them are switched off',
      { classes: { RolloutStuck: { enabled: false }, CrashLoop: { enabled: false } } },
      SignalOutcome.classDisabled,
    ],
    ['a rule ignores it', { ignore: [{ name: 'web' }] }, SignalOutcome.ignoredByRule],
    ['its namespace is left', { namespaces: { include: ['other'], exclude: [] } }, SignalOutcome.namespaceNotSelected],
  ];
  for (const [name, over, want] of cases)
    test(name, () => {
      const now = reconfigured(incident, aConfig(over), 'tapfix');
      const got = typeof now === 'string' ? now : { classes: now.seen.map((one) => one.class), dueMs: now.dueMs };
      assert.deepEqual(got, want);
    });

  /* What has no namespace of its own is ours as long as a namespace that is watched is touched by it. */

  const aNode = { kind: 'Node', name: 'worker-3', uid: '' };
  const down = (namespace: string) => ({
    ...seen('NodeDown', 1_000),
    key: 'tapfix/Node/worker-3',
    namespace: 'tapfix',
    object: aNode,
    signal: { class: 'NodeDown', reason: 'NodeNotReady', message: '', namespace, object, cause: aNode },
  });
  const spaces: [string, string[], string[], string][] = [
    ['the only one that told of it is still watched', ['shop-eu'], ['shop-*'], 'kept'],
    ['one of two that told of it is', ['pay', 'shop-eu'], ['shop-*'], 'kept'],
    ['none of them is', ['pay'], ['shop-*'], SignalOutcome.namespaceNotSelected],
    ['the node itself, where everything is watched', [''], ['*'], 'kept'],
    ['the node itself, where only some are', [''], ['shop-*'], SignalOutcome.namespaceNotSelected],
  ];
  for (const [name, toldBy, include, want] of spaces)
    test(`a node that is down: ${name}`, () => {
      const [first, ...more] = toldBy.map(down);
      const node = more.reduce(fold, fold(undefined, first!));
      const now = reconfigured(node, aConfig({ namespaces: { include, exclude: [] } }), 'tapfix');
      assert.equal(typeof now === 'string' ? now : 'kept', want);
    });
});
