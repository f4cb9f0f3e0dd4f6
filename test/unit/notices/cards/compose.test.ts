import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Condition, type Remediation, undoIntro } from '../../../../src/kube/remediation.ts';
import { composeMessage } from '../../../../src/notices/cards/compose.ts';
import { composeDetails } from '../../../../src/notices/cards/details.ts';
import type { Line, Message } from '../../../../src/notices/cards/message.ts';
import { composeReminder } from '../../../../src/notices/cards/reminder-words.ts';
import { aContext } from '../../../golden/scenes.ts';
import {
  aFix,
  aNotice,
  approvedByAda,
  aQuotaFix,
  condition,
  executed,
  type FixOptions,
  uidOf,
} from '../../../support/fixes.ts';

/* A message about several: whose each button is, and how they are all together. */

const labels = (members: Remediation[], over = {}): string[] =>
  composeMessage(members, aContext(over))
    .buttons!.flat()
    .map(({ label }) => label);
const lines = (members: Remediation[], over = {}): string[] =>
  composeMessage(members, aContext(over)).cards.map(({ dot, headline }) => `${dot}: ${headline}`);
const title = (members: Remediation[]): string => {
  const { title } = composeMessage(members, aContext());
  return `${title?.dot}: ${title?.text}`;
};
const statefulSet = (n: number) =>
  aFix({ n, name: 'api', incident: { object: { kind: 'StatefulSet', name: 'api', uid: uidOf(n) } } });
const applied = (n: number, over: FixOptions = {}): Remediation =>
  aFix({ n, phase: 'Applied', approval: approvedByAda, ...over, status: { execution: executed, ...over.status } });
const expired = (n: number, name: string) =>
  aFix({ n, name, phase: 'Expired', conditions: [condition('Expired', '02:42:35')] });
const rejected = (n: number, conditions: Condition[] = []) =>
  aFix({ n, phase: 'Rejected', approval: { ...approvedByAda, state: 'Rejected' }, conditions });
const recovered = (n: number) => applied(n, { phase: 'Recovered', conditions: [condition('Recovered', '02:14:53')] });

const named: [string, Remediation[], string[]][] = [
  ['one namespace: the name is enough', [aFix(), aFix({ n: 2, name: 'web' })], ['checkout', 'web']],
  [
    'two teams with an api each',
    [aFix({ name: 'api' }), aFix({ n: 2, name: 'api', namespace: 'payments' })],
    ['payments/api', 'shop/api'],
  ],
  [
    'a Deployment and a StatefulSet of one name',
    [aFix({ name: 'api' }), statefulSet(2)],
    ['shop/Deployment/api', 'shop/StatefulSet/api'],
  ],
  [
    'as people count, not as computers sort',
    ['svc-10', 'svc-2', 'svc-1'].map((name, n) => aFix({ n: n + 1, name })),
    ['svc-1', 'svc-2', 'svc-10'],
  ],
  ['the most severe first', [aNotice({ name: 'a' }), aFix({ n: 2, name: 'b' })], ['b', 'a']],
];
for (const [name, members, want] of named)
  test(`how each is called: ${name}`, () =>
    assert.deepEqual(
      lines(members).map((line) => line.split(' ')[2]),
      want,
    ));

test('each has one numbered button: what decides, or else Details; and one is for all of them', () => {
  const members = [aFix(), aFix({ n: 2, name: 'web' }), aNotice()];
  const notice = 'ab'.repeat(16);
  assert.deepEqual(labels(members, { notice }), ['1 Roll back', '2 Roll back', '3 Details', "I'm on all of it"]);
  assert.deepEqual(labels(members, { notice, approvable: () => false }), []);
});

test('the question of a member stands before the others, and its line says who is asked', () => {
  const asked = { by: 'telegram:123456789', name: 'Ada', untilMs: aContext().nowMs + 30_000 };
  const members = [aFix(), aQuotaFix()];
  const over = {
    confirming: (fix: Remediation) => (fix.metadata.uid === members[1]!.metadata.uid ? asked : undefined),
  };
  assert.deepEqual(labels(members, over), ['2 Yes, delete platform-hardening', '2 Back', '1 Roll back']);
  assert.match(lines(members, over)[1]!, / · delete quota · Ada is asked once more$/);
});

const titles: [string, Remediation[], string][] = [
  ['all fail in one namespace', [aFix(), aFix({ n: 2, name: 'web' })], 'red: 2 workloads are broken in shop'],
  ['in two', [aFix(), aFix({ n: 2, name: 'web', namespace: 'pay' })], 'red: 2 workloads are broken'],
  [
    'one is being fixed',
    [
      applied(1, { status: { sightings: { count: 1, lastSeen: '', ready: 3, desired: 3 } } }),
      aFix({ n: 2, name: 'web' }),
    ],
    'red: 1 of 2 still broken in shop',
  ],
  ['both are', [applied(1), applied(2, { name: 'web' })], 'blue: 2 of 2 being fixed in shop'],
  ['one of them was not critical', [aNotice(), recovered(1)], 'red: 1 of 2 still broken in shop'],
  [
    'nobody decided, and both go on crashing',
    [expired(1, 'checkout'), expired(2, 'web')],
    'red: 2 workloads are broken in shop',
  ],
  ['one recovered, of the other nobody decided', [recovered(1), expired(2, 'web')], 'red: 1 of 2 still broken in shop'],
  [
    'one was rejected, and nobody says that it is well',
    [rejected(1), aFix({ n: 2, name: 'web' })],
    'red: 2 workloads are broken in shop',
  ],
  [
    'one was rejected, and is well by now',
    [rejected(1, [condition('IncidentCleared', '02:30:00')]), aFix({ n: 2, name: 'web' })],
    'red: 1 of 2 still broken in shop',
  ],
  ['all is over', [recovered(1), aFix({ n: 2, phase: 'Resolved' })], 'green: All 2 are over in shop'],
];
for (const [name, members, want] of titles) test(`the title when ${name}`, () => assert.equal(title(members), want));

test('what became of each that is still broken is in its line, and a dot only where it differs from the title', () => {
  const members = [
    expired(1, 'a'),
    aFix({ n: 2, name: 'b', approval: { ...approvedByAda, state: 'Rejected' } }),
    applied(3, { name: 'c', phase: 'Recovered', conditions: [condition('Recovered', '02:14:53')] }),
    applied(4, { name: 'd', phase: 'Failed', conditions: [condition('Failed', '02:24:12')], status: zeroOf3 }),
  ];
  assert.deepEqual(lines(members), [
    'red: 1 a 0/3 · crashing after 1.42 · no decision by 03:42',
    'red: 2 b 0/3 · crashing after 1.42 · rejected by Ada (Telegram)',
    'green: 3 c is healthy again after 41 s, stable for 30 s',
    'red: 4 d 0/3 · crashing after 1.42 · rollback did not help',
  ]);
});
const zeroOf3 = { sightings: { count: 1, lastSeen: '', ready: 0, desired: 3 } };

test('what can be decided has its line however many others there are', () => {
  const noticed = Array.from({ length: 30 }, (_, n) =>
    aNotice({ n: n + 10, incident: { severity: 'critical', firstSeen: '2026-11-16T01:00:00Z' } }),
  );
  const beingFixed = Array.from({ length: 30 }, (_, n) => applied(n + 50, { name: `svc-${n}` }));
  assert.ok(labels([...noticed, ...beingFixed, aFix()]).some((label) => label.endsWith(' Roll back')));
});

test('ten have a line in one message, and the others are a tap away', () => {
  const many = Array.from({ length: 13 }, (_, n) => aFix({ n: n + 1, name: `svc-${n}` }));
  const { cards, rest, buttons } = composeMessage(many, aContext({ notice: 'ab'.repeat(16) }));
  assert.equal(cards.length, 10);
  assert.equal(rest, 'and 3 more · shop · prod-eu · until 03:42');
  assert.deepEqual(
    buttons!
      .slice(-2)
      .flat()
      .map(({ label }) => label),
    ['Show all 13', "I'm on all of it"],
  );
});

test('in several namespaces every line says which', () => {
  assert.deepEqual(lines([aFix(), aFix({ n: 2, name: 'web', namespace: 'pay', phase: 'Resolved' })]), [
    'grey: 1 pay/web is healthy again. Nothing was changed',
    'red: 2 shop/checkout 0/3 · crashing after 1.42 · roll back',
  ]);
});

const messages: [string, Remediation[], Message][] = (
  [
    ['of what is failing', [aFix(), aFix({ n: 2, name: 'web' })]],
    ['of what nobody decided', [expired(1, 'checkout'), expired(2, 'web')]],
    ['of what is over', [recovered(1), aFix({ n: 2, phase: 'Resolved' })]],
    ['of what is over in two namespaces', [recovered(1), aFix({ n: 2, namespace: 'pay', phase: 'Resolved' })]],
  ] as [string, Remediation[]][]
).flatMap(([name, members]) => [
  [name, members, composeMessage(members, aContext())],
  [`${name}, found at start`, members, composeMessage(members, aContext(), 'boot')],
  [`${name}, as a storm`, members, composeMessage(members, aContext(), 'storm')],
  [`${name}, as a reminder`, members, composeReminder('unanswered', members, aContext())],
]);
for (const [name, , message] of messages)
  test(`the cluster is in every message: ${name}`, () => assert.match(JSON.stringify(message), /prod-eu/));

const linesOf = ({ cards }: Message, label: string): readonly Line[] =>
  cards[0]!.rows.find((row) => row.label === label)?.lines ?? [];
const undoOf = (command: string): readonly Line[] =>
  linesOf(
    composeDetails(aQuotaFix({ spec: { rationale: `It stays away. ${undoIntro}\n${command}` } }), [], aContext()),
    'Undo',
  );
const quotaOf = (annotation: string, resource = 'pods'): string =>
  `kubectl -n shop create -f - <<'EOF'\n{"kind":"ResourceQuota","metadata":{"annotations":{"note":"${annotation}"}},"spec":{"hard":{"${resource}":"10"}}}\nEOF`;

const shown: [string, string][] = [
  ['a quota of Secrets', quotaOf('ours', 'count/secrets')],
  ['the image of a container that is called auth', 'kubectl -n shop set image deploy/web auth=shop/auth:1.41'],
  ['a namespace that is called so', 'kubectl -n user-auth rollout undo deploy/api-key --to-revision=41'],
];
for (const [name, command] of shown)
  test(`the command that undoes it is there as it is: ${name}`, () => {
    assert.deepEqual(undoOf(command).at(-1), {
      command,
      orElse: (undoOf(command).at(-1) as { orElse: string }).orElse,
    });
  });

test('a command that holds a secret is not in the chat: what prints it is, and that is said', () => {
  const prints = "kubectl -n shop get fix platform-hardening-3f9a1c-7 -o jsonpath='{.spec.rationale}'";
  assert.deepEqual(undoOf(quotaOf('password=hunter2')), [
    'with',
    'a command with something in it that is not for a chat; this prints it:',
    { command: prints, orElse: prints },
  ]);
});
