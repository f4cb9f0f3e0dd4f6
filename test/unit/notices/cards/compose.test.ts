import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Condition, type Remediation, undoIntro } from '../../../../src/kube/remediation.ts';
import { composeMessage } from '../../../../src/notices/cards/compose.ts';
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

const allLabels = (members: Remediation[], over = {}): string[] =>
  composeMessage(members, aContext(over)).cards.flatMap(({ buttons }) => buttons.flat().map(({ label }) => label));
/** Of what decides. */
const labels = (members: Remediation[], over = {}): string[] =>
  allLabels(members, over).filter((label) => !/(I'm on it|Details|Snooze 1h)$/.test(label));
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
  [
    'one namespace: the name is enough',
    [aFix(), aFix({ n: 2, name: 'web' })],
    ['checkout · Approve undo', 'checkout · Reject', 'web · Approve undo', 'web · Reject'],
  ],
  [
    'one that is called like what is done to it',
    [aFix({ name: 'undo' }), aFix({ n: 2, name: 'web' })],
    ['undo · Approve undo', 'undo · Reject', 'web · Approve undo', 'web · Reject'],
  ],
  [
    'two teams with an api each',
    [aFix({ name: 'api' }), aFix({ n: 2, name: 'api', namespace: 'payments' })],
    ['shop/api · Approve undo', 'shop/api · Reject', 'payments/api · Approve undo', 'payments/api · Reject'],
  ],
  [
    'a Deployment and a StatefulSet of one name',
    [aFix({ name: 'api' }), statefulSet(2)],
    [
      'shop/Deployment/api · Approve undo',
      'shop/Deployment/api · Reject',
      'shop/StatefulSet/api · Approve undo',
      'shop/StatefulSet/api · Reject',
    ],
  ],
];
for (const [name, members, want] of named) test(name, () => assert.deepEqual(labels(members), want));

test('the one in full has all its buttons; of the others what decides, or else Details', () => {
  const attention = ["checkout · I'm on it", 'checkout · Details', 'checkout · Snooze 1h'];
  const others = ['web · Approve undo', 'web · Reject', 'reports · Details'];
  const all = allLabels([aFix(), aFix({ n: 2, name: 'web' }), aNotice()]);
  assert.deepEqual(all, ['checkout · Approve undo', 'checkout · Reject', ...attention, ...others]);
});

test('the question of a member names what it is about once, and says who is asked', () => {
  const asked = { by: 'telegram:123456789', name: 'Ada', untilMs: aContext().nowMs + 30_000 };
  const members = [aFix(), aQuotaFix()];
  const over = {
    confirming: (fix: Remediation) => (fix.metadata.uid === members[1]!.metadata.uid ? asked : undefined),
  };
  assert.deepEqual(labels(members, over).slice(2), [
    'Yes, delete quota platform-hardening',
    'platform-hardening · Back',
  ]);
  const { cards } = composeMessage(members, aContext(over));
  assert.deepEqual(cards[1]?.footer, ['Ada is asked once more, until 03:14:50 CET']);
});

const titles: [string, Remediation[], string][] = [
  [
    'all fail in one namespace',
    [aFix(), aFix({ n: 2, name: 'web' })],
    'red: 2 workloads are failing in shop: checkout 0/3, web 0/3',
  ],
  [
    'in two',
    [aFix(), aFix({ n: 2, name: 'web', namespace: 'pay' })],
    'red: 2 workloads are failing: shop/checkout 0/3, pay/web 0/3',
  ],
  [
    'one is being fixed',
    [
      applied(1, { status: { sightings: { count: 1, lastSeen: '', ready: 3, desired: 3 } } }),
      aFix({ n: 2, name: 'web' }),
    ],
    'red: 1 of 2 still failing in shop: web 0/3',
  ],
  ['both are', [applied(1), applied(2, { name: 'web' })], 'blue: 2 of 2 being fixed in shop: checkout 0/3, web 0/3'],
  ['one of them was not critical', [aNotice(), recovered(1)], 'orange: 1 of 2 still failing in shop: reports 0/2'],
  [
    'nobody decided, and both go on crashing',
    [expired(1, 'checkout'), expired(2, 'web')],
    'red: 2 workloads are failing in shop: checkout 0/3, web 0/3',
  ],
  [
    'one recovered, of the other nobody decided',
    [recovered(1), expired(2, 'web')],
    'red: 1 of 2 still failing in shop: web 0/3',
  ],
  [
    'one was rejected, and nobody says that it is well',
    [rejected(1), aFix({ n: 2, name: 'web' })],
    'red: 1 of 2 still open in shop: web 0/3',
  ],
  [
    'one was rejected, and is well by now',
    [rejected(1, [condition('IncidentCleared', '02:30:00')]), aFix({ n: 2, name: 'web' })],
    'red: 1 of 2 still failing in shop: web 0/3',
  ],
  ['all is over', [recovered(1), aFix({ n: 2, phase: 'Resolved' })], 'green: All 2 are over in shop'],
];
for (const [name, members, want] of titles) test(`the title when ${name}`, () => assert.equal(title(members), want));

test('of what nobody decided and goes on, the message says so', () => {
  const { cards } = composeMessage([expired(1, 'checkout'), expired(2, 'web')], aContext());
  assert.deepEqual(
    cards.map(({ footer }) => footer),
    [['Not over yet: checkout keeps crashing, 0/3 ready'], ['Not over yet: web keeps crashing, 0/3 ready']],
  );
});

test('what can be decided comes before what cannot, and has its buttons however many others there are', () => {
  const noticed = Array.from({ length: 30 }, (_, n) =>
    aNotice({ n: n + 10, incident: { severity: 'critical', firstSeen: '2026-11-16T01:00:00Z' } }),
  );
  const beingFixed = Array.from({ length: 30 }, (_, n) => applied(n + 50, { name: `svc-${n}` }));
  const want = ['shop/Deployment/checkout · Approve undo', 'shop/Deployment/checkout · Reject'];
  assert.deepEqual(labels([...noticed, ...beingFixed, aFix()]), want);
});

test('ten can be decided on one message, and the others are a tap away', () => {
  const many = Array.from({ length: 13 }, (_, n) => aFix({ n: n + 1, name: `svc-${n}` }));
  const { cards, rest, buttons } = composeMessage(many, aContext({ notice: 'ab'.repeat(16) }));
  assert.equal(cards.filter((card) => card.buttons.length > 0).length, 10);
  assert.equal(rest, 'and 3 more');
  assert.deepEqual(
    buttons?.flat().map(({ label }) => label),
    ['+3 more: show all 13'],
  );
});

test('in several namespaces every line says which', () => {
  const { cards } = composeMessage([aFix(), aFix({ n: 2, name: 'web', namespace: 'pay' })], aContext());
  assert.match(cards[0]!.subtitle ?? '', /^shop · /);
  assert.equal(cards[1]!.headline, 'pay: web keeps crashing, 0/3 ready');
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
const riskOf = (command: string): readonly Line[] =>
  linesOf(
    composeMessage([aQuotaFix({ spec: { rationale: `It stays away. ${undoIntro}\n${command}` } })], aContext()),
    'Risk',
  );
const quotaOf = (annotation: string, resource = 'pods'): string =>
  `kubectl -n shop create -f - <<'EOF'\n{"kind":"ResourceQuota","metadata":{"annotations":{"note":"${annotation}"}},"spec":{"hard":{"${resource}":"10"}}}\nEOF`;

const shown: [string, string][] = [
  ['a quota of Secrets', quotaOf('ours', 'count/secrets')],
  ['the image of a container that is called auth', 'kubectl -n shop set image deploy/web auth=shop/auth:1.41'],
  ['a namespace that is called so', 'kubectl -n user-auth rollout undo deploy/api-key --to-revision=41'],
];
for (const [name, command] of shown)
  test(`the command to put it back is there as it is: ${name}`, () => {
    assert.deepEqual(riskOf(command).at(-1), {
      command,
      orElse: (riskOf(command).at(-1) as { orElse: string }).orElse,
    });
  });

test('a command that holds a secret is not in the chat: what prints it is, and that is said', () => {
  const prints = "kubectl -n shop get fix platform-hardening-3f9a1c-7 -o jsonpath='{.spec.rationale}'";
  assert.deepEqual(riskOf(quotaOf('password=hunter2')), [
    'It stays away. To undo:',
    'a command with something in it that is not for a chat; this prints it:',
    { command: prints, orElse: prints },
  ]);
});
