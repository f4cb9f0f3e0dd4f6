import type { NoticeSpec } from '../../src/kube/notice.ts';
import type { Remediation } from '../../src/kube/remediation.ts';
import type { MessageContext } from '../../src/notices/cards/card-context.ts';
import { composeMessage } from '../../src/notices/cards/compose.ts';
import type { Message } from '../../src/notices/cards/message.ts';
import { composePage } from '../../src/notices/cards/page.ts';
import { nameOf } from '../../src/notices/cards/people.ts';
import { aConfig, aFix, aNotice, approvedByAda, aQuotaFix, at, condition, executed, type FixOptions, uidOf } from '../support/fixes.ts';

export interface Scene {
  name: string;
  members: Remediation[];
  context: MessageContext;
  form?: NoticeSpec['form'];
  /** The list of all of them, opened on this page. */
  page?: number;
}

/** What is shown of it. */
export const messageIn = ({ members, context, form, page }: Scene): Message =>
  page === undefined
    ? composeMessage(members, context, form)
    : composePage(members, context, { notice: context.notice!, page });

export const aContext = (over: Partial<MessageContext> = {}): MessageContext => ({
  cluster: 'prod-eu',
  nowMs: Date.parse(at('02:14:20')),
  timeZone: 'Europe/Berlin',
  confirm: ['DeleteResourceQuota'],
  nameOf: (by) => nameOf(aConfig(), by),
  approvable: () => true,
  allowed: () => true,
  confirming: () => undefined,
  ...over,
});

const scene = (name: string, members: Remediation[], over: Partial<MessageContext> = {}): Scene => ({
  name,
  members,
  context: aContext(over),
});

/** All of them as one start found them. */
const foundAtStart = (name: string, members: Remediation[]): Scene => {
  const annotations = { 'tapfix.dev/found-at-start': at('02:12:04') };
  const found = members.map((fix) => ({ ...fix, metadata: { ...fix.metadata, annotations } }));
  return { ...scene(name, found), form: 'boot' };
};

const sightings = (ready: number) => ({ count: 14, lastSeen: at('02:14:34'), ready, desired: 3 });
const asked = { by: 'telegram:123456789', name: 'Ada', untilMs: Date.parse(at('02:14:50')) };
const approved = { approval: approvedByAda };
const rejected = { ...approvedByAda, state: 'Rejected', note: 'known, fix is on its way' } as const;
const blocked = ['research', 'api', 'web', 'worker'].map((name, n) => ({ kind: 'Deployment', name, uid: uidOf(n) }));
const quotaUndo = "kubectl apply -f - <<'END'\napiVersion: v1\nkind: ResourceQuota\nEND";
const hard = Object.fromEntries(Array.from({ length: 97 }, (_, n) => [`count/widgets-${n}.apps.example.com`, '10']));
const longUndo = `kubectl -n shop create -f - <<'EOF'\n${JSON.stringify({ apiVersion: 'v1', kind: 'ResourceQuota', spec: { hard } })}\nEOF`;

const web = aFix({ n: 2, name: 'web', incident: { class: 'ImagePull' }, status: { sightings: { count: 2, lastSeen: at('02:12:34'), ready: 1, desired: 2 } } });
const mail = aNotice({ n: 4, name: 'mail', incident: { class: 'JobFailed', object: { kind: 'Job', name: 'mail', uid: uidOf(4) } }, status: { sightings: { count: 2, lastSeen: at('02:12:34') } } });
const replaced = aFix({ phase: 'Superseded', conditions: [condition('Superseded', '02:13:20')] });
const successor = aFix({ n: 2, spec: { follows: { name: replaced.metadata.name, uid: replaced.metadata.uid } } });
const expired = (n: number, name: string) => aFix({ n, name, phase: 'Expired', conditions: [condition('Expired', '02:42:35')] });
const notRecovered = condition('Failed', '02:24:12', { reason: 'NotRecovered', message: 'not healthy within 10 min' });

const node = (over: FixOptions = {}) => aNotice({ n: 9, name: 'worker-3', namespace: 'tapfix', ...over, incident: { class: 'NodeDown', severity: 'critical', object: { kind: 'Node', name: 'worker-3', uid: uidOf(909) } }, spec: { diagnosis: 'kubelet has been silent since 2026-11-16T02:11:20Z', rationale: 'tapfix does not change nodes' }, status: { sightings: { count: 1, lastSeen: at('02:12:34'), ready: 0, desired: 0, affected: ['shop/Deployment/web', 'shop/StatefulSet/db', 'pay/Deployment/api'] }, ...over.status } });

const notice = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const pulls = (count: number, from: number, namespace: string) => times(count, (n) => aFix({ n: from + n, name: `svc-${from + n}`, namespace, incident: { class: 'ImagePull', firstSeen: at(`02:12:${String(5 + (n % 9)).padStart(2, '0')}`) }, spec: { diagnosis: `image registry.internal/svc-${from + n}:2: registry.internal times out` } }));
const crashes = times(9, (n) => aFix({ n: 800 + n, name: `job-${n}`, namespace: `team-${n}`, spec: { diagnosis: `container app exits ${n} within a second` } }));
const stranded = times(5, (n) => aNotice({ n: 850 + n, name: `big-${n}`, namespace: n < 3 ? 'shop' : 'data' }));
const stormed = [...pulls(117, 1, 'shop'), ...pulls(60, 200, 'payments'), ...pulls(21, 300, 'search'), ...crashes, ...stranded];
const storm = (name: string, members: Remediation[], over: Partial<MessageContext> = {}): Scene => ({ ...scene(name, members, { notice, ...over }), form: 'storm' });
const recovering = (fix: Remediation, n: number): Remediation => n % 3 === 0 ? fix : { ...fix, spec: { ...fix.spec, approval: approvedByAda }, status: { ...fix.status!, phase: n % 3 === 1 ? 'Applied' : 'Recovered' } };
const over = (fix: Remediation): Remediation => ({ ...fix, status: { ...fix.status!, phase: 'Resolved', conditions: [condition('Resolved', '02:13:20')] } });
/** Ben is on it, and it is silent for an hour. */
const attended = (fix: Remediation): Remediation => ({
  ...fix,
  metadata: { ...fix.metadata, annotations: { 'tapfix.dev/acknowledged-by': 'telegram:222', 'tapfix.dev/snoozed-until': at('03:14:10') } },
});

/** Every state a card can be in. */
export const scenes: readonly Scene[] = [
  scene('proposed', [aFix()]),
  scene('proposed rehearsing', [aFix({ unrehearsed: true })]),
  scene('proposed rehearsal failed', [
    aFix({
      unrehearsed: true,
      conditions: [condition('Rehearsed', '02:12:36', { status: 'False', message: 'revision 41 is no longer there' })],
    }),
  ]),
  scene('proposed rehearsal unclear', [
    aFix({
      unrehearsed: true,
      conditions: [condition('Rehearsed', '02:12:36', { status: 'False', reason: 'NoAnswer', message: 'the webhook guard.example.com does not answer' })],
    }),
  ]),
  scene('proposed not confirmed', [
    aFix({ conditions: [condition('Rehearsed', '02:12:36'), condition('Confirmed', '02:12:36', { status: 'False', message: 'revision 41 was not seen healthy' })], unrehearsed: true, status: { preview: { diff: 'app image  b → a', targetHash: 'x', at: at('02:12:36') } } }),
  ]),
  scene('proposed nobody may approve', [aFix()], { approvable: () => false }),
  scene('proposed and taken', [attended(aFix())]),
  scene('noticed and taken', [attended(aNotice())]),
  scene('taken by one of several', [aFix(), attended(web), mail]),
  scene('approved', [aFix(approved)]),
  scene('applying', [aFix({ ...approved, phase: 'Applying' })]),
  scene('applied', [aFix({ ...approved, phase: 'Applied', status: { execution: executed, sightings: sightings(2) } })]),
  scene('recovered', [aFix({ ...approved, phase: 'Recovered', status: { execution: executed, sightings: sightings(3) }, conditions: [condition('Recovered', '02:14:53')] })]),
  scene('recovered before it was counted again', [aFix({ ...approved, phase: 'Recovered', status: { execution: executed, sightings: sightings(0) }, conditions: [condition('Recovered', '02:14:53')] })]),
  scene('recovered by kubectl', [aFix({ approval: { state: 'Approved', by: 'grace', via: 'kubernetes' }, phase: 'Recovered', status: { execution: executed, sightings: sightings(3) }, conditions: [condition('Approved', '02:14:10'), condition('Recovered', '02:14:53')] })]),
  scene('failed not recovered', [aFix({ ...approved, phase: 'Failed', status: { execution: executed, sightings: sightings(0) }, conditions: [notRecovered] })]),
  scene('failed made it worse', [aFix({ ...approved, phase: 'Failed', status: { execution: { ...executed, readyBefore: 2, readyAfter: 0 }, sightings: sightings(0) }, conditions: [notRecovered] })]),
  scene('failed healthy later', [aFix({ ...approved, phase: 'Failed', status: { execution: executed, sightings: sightings(3) }, conditions: [notRecovered, condition('IncidentCleared', '02:50:00')] })]),
  scene('failed and gone later', [aFix({ ...approved, phase: 'Failed', status: { execution: executed, sightings: sightings(3) }, conditions: [notRecovered, condition('IncidentCleared', '02:50:00', { reason: 'Gone' })] })]),
  scene('failed not applied', [aFix({ ...approved, phase: 'Failed', conditions: [condition('Failed', '02:14:12', { reason: 'TargetChanged', message: 'the Deployment has changed since it was approved' })] })]),
  scene('failed interrupted', [aFix({ ...approved, phase: 'Failed', status: { execution: { startedAt: executed.startedAt, undo: executed.undo } }, conditions: [condition('Failed', '02:14:12', { reason: 'Interrupted', message: 'somebody else changed it meanwhile' })] })]),
  scene('rejected', [aFix({ approval: rejected })]),
  scene('expired', [aFix({ phase: 'Expired', conditions: [condition('Expired', '02:42:35')] })]),
  scene('expired and over', [aFix({ phase: 'Expired', conditions: [condition('Expired', '02:42:35'), condition('IncidentCleared', '02:50:00')] })]),
  scene('expired though approved', [aFix({ ...approved, phase: 'Expired', conditions: [condition('Expired', '02:47:35', { reason: 'TooLate' })] })]),
  scene('resolved', [aFix({ phase: 'Resolved', conditions: [condition('Resolved', '02:13:20')] })]),
  scene('resolved after approval', [aFix({ ...approved, phase: 'Resolved', conditions: [condition('Resolved', '02:14:11')] })]),
  scene('superseded', [replaced]),
  scene('superseded by a successor in the same message', [replaced, successor]),
  scene('noticed', [aNotice()]),
  scene('noticed resolved', [aNotice({ phase: 'Resolved', conditions: [condition('Resolved', '02:13:20')] })]),
  scene('no longer seen', [aNotice({ phase: 'Resolved', conditions: [condition('Resolved', '02:13:20', { reason: 'NoLongerSeen' })] })]),
  scene('noticed ended', [aNotice({ name: 'migrate', phase: 'Resolved', incident: { class: 'CrashLoop', object: { kind: 'Job', name: 'migrate', uid: uidOf(5) } }, conditions: [condition('Resolved', '02:13:20', { reason: 'Ended', message: 'the Job failed for good, nothing was changed' })] })]),
  scene('unknown action', [aFix({ spec: { action: { type: 'RebootNode', rebootNode: {} } } })]),
  scene('quota proposed', [aQuotaFix()]),
  scene('quota confirming', [aQuotaFix()], { confirming: () => asked }),
  scene('quota applied', [aQuotaFix({ ...approved, phase: 'Applied', status: { execution: { ...executed, undo: quotaUndo, blocked } } })]),
  scene('quota recovered', [aQuotaFix({ ...approved, phase: 'Recovered', status: { execution: { ...executed, undo: quotaUndo, blocked } }, conditions: [condition('Recovered', '02:14:53')] })]),
  scene('quota failed', [aQuotaFix({ ...approved, phase: 'Failed', status: { execution: { ...executed, undo: quotaUndo, blocked } }, conditions: [notRecovered] })]),
  scene('quota failed with a long command', [aQuotaFix({ ...approved, phase: 'Failed', status: { execution: { ...executed, undo: longUndo, blocked } }, conditions: [notRecovered] })]),
  scene('quota failed and over later', [aQuotaFix({ ...approved, phase: 'Failed', status: { execution: { ...executed, undo: quotaUndo, blocked } }, conditions: [notRecovered, condition('IncidentCleared', '02:50:00', { reason: 'Gone' })] })]),
  scene('node resolved', [node({ phase: 'Resolved', conditions: [condition('Resolved', '02:13:20')] })]),
  scene('node gone', [node({ phase: 'Resolved', conditions: [condition('Resolved', '02:13:20', { reason: 'Gone' })] })]),
  scene('a node and a workload', [node(), web]),
  scene('three at once', [aFix(), web, mail]),
  scene('three at once one left', [aFix({ approval: rejected }), web, aNotice({ n: 4, name: 'mail', phase: 'Resolved' })]),
  scene('two teams at once', [aFix({ name: 'api' }), aFix({ n: 2, name: 'api', namespace: 'payments' })]),
  scene('two that nobody decided', [expired(1, 'checkout'), expired(2, 'web')], { nowMs: Date.parse(at('02:50:00')) }),
  scene('one being fixed one left', [aFix({ ...approved, phase: 'Applied', status: { execution: executed, sightings: sightings(2) } }), web]),
  scene('past its time', [aFix()], { nowMs: Date.parse(at('02:50:00')) }),
  scene('switched off', [aFix()], { allowed: () => false }),
  foundAtStart('found at start', [aFix({ name: 'api' }), aNotice()]),
  foundAtStart('found at start one', [aFix({ name: 'api' })]),
  foundAtStart('found at start one left', [aFix({ name: 'api', ...approved, phase: 'Recovered', status: { execution: executed, sightings: sightings(3) }, conditions: [condition('Recovered', '02:14:53')] }), aNotice()]),
  foundAtStart('found at start all over', [aFix({ name: 'api', phase: 'Resolved', conditions: [condition('Resolved', '02:13:20')] }), aNotice({ phase: 'Resolved', conditions: [condition('Resolved', '02:13:50')] })]),
  foundAtStart('found at start in two namespaces', [aFix({ name: 'api' }), aFix({ n: 6, name: 'api', namespace: 'payments' }), aNotice(), web, mail]),
  storm('storm', stormed),
  storm('storm of crashes', times(12, (n) => aFix({ n: 800 + n, name: `svc-${n}`, spec: { diagnosis: `container app exits 1 ${n % 3 === 0 ? 'within a second' : `after ${n} s`}` } }))),
  storm('storm of warnings', stranded.flatMap((fix, n) => times(5, (m) => ({ ...fix, metadata: { ...fix.metadata, uid: uidOf(2000 + 10 * n + m) } })))),
  storm('storm that somebody is on', stormed.map(attended)),
  storm('storm half way', stormed.map(recovering)),
  storm('storm over', stormed.map(over)),
  { ...storm('page first', stormed), page: 1 },
  { ...storm('page last', stormed), page: 22 },
  { ...storm('page where one is asked about', times(3, (n) => aFix({ n: 40 + n, name: `api-${n}` })), { confirm: ['RolloutUndo'], confirming: (fix) => (fix.metadata.uid === uidOf(41) ? asked : undefined) }), page: 1 },
  scene('many at once', Array.from({ length: 12 }, (_, n) => aFix({ n: n + 1, name: `svc-${n + 1}` })), { notice }),
];
