import { aConfig as aPlainConfig } from './config.ts';
import type { Config } from '../../src/config/schema.ts';
import type { Notice } from '../../src/kube/notice.ts';
import type { Condition, Phase, Remediation, RemediationSpec, RemediationStatus } from '../../src/kube/remediation.ts';
import { undoIntro } from '../../src/kube/remediation.ts';

/** Builders: a Remediation of a crash loop and of a quota, at any point of their lives. */
export const at = (clock: string): string => `2026-11-16T${clock}Z`;
export const uidOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

export const condition = (type: string, clock: string, over: Partial<Condition> = {}): Condition => ({
  type,
  status: 'True',
  reason: type,
  message: '',
  lastTransitionTime: at(clock),
  ...over,
});

export interface FixOptions {
  n?: number;
  name?: string;
  namespace?: string;
  phase?: Phase;
  spec?: Partial<RemediationSpec>;
  incident?: Partial<RemediationSpec['incident']>;
  approval?: Partial<RemediationSpec['approval']>;
  status?: Partial<RemediationStatus>;
  conditions?: Condition[];
  /** No preview, no Rehearsed, no Confirmed. */
  unrehearsed?: boolean;
}

const undo = 'kubectl -n shop rollout undo deploy/checkout --to-revision=42';

/** checkout keeps crashing since rollout 42; the proposal is to undo it. */
export function aFix({ n = 1, name = 'checkout', namespace = 'shop', ...over }: FixOptions = {}): Remediation {
  const phase = over.phase ?? 'Proposed';
  const checks = over.unrehearsed ? [] : [condition('Rehearsed', '02:12:36'), condition('Confirmed', '02:12:36')];
  const own = over.conditions?.some(({ type }) => type === phase) ? [] : [condition(phase, '02:12:35')];
  return {
    apiVersion: 'tapfix.dev/v1alpha1',
    kind: 'Remediation',
    metadata: {
      name: `${name}-3f9a1c-${n}`,
      namespace,
      uid: uidOf(n),
      resourceVersion: '1',
      creationTimestamp: at('02:12:35'),
    },
    spec: {
      incident: {
        key: `${namespace}/Deployment/${name}`,
        class: 'CrashLoop',
        severity: 'critical',
        reason: 'CrashLoopBackOff',
        object: { kind: 'Deployment', name, uid: uidOf(900 + n) },
        message: 'back-off restarting failed container',
        firstSeen: at('02:12:05'),
        ...over.incident,
      },
      diagnosis: 'container app exits 1 within a second',
      context: {
        changed: ['2026-11-16T02:11:40Z rollout 42 (kubectl-set): app image 1.41 → 1.42'],
        evidence: ['14 restarts of 3 pods'],
      },
      action: { type: 'RolloutUndo', rolloutUndo: { kind: 'Deployment', name, uid: uidOf(900 + n), toRevision: 41 } },
      rationale: `Revision 41 was seen healthy for 6 days; 3 pods are replaced step by step. ${undoIntro}\n${undo}`,
      proposedBy: 'system:serviceaccount:tapfix:tapfix-watcher',
      ttlMinutes: 30,
      approval: { state: 'Pending', ...over.approval },
      ...over.spec,
    },
    status: {
      phase,
      conditions: [...own, ...checks, ...(over.conditions ?? [])],
      ...(!over.unrehearsed && {
        preview: { diff: 'app image  shop/checkout:1.42 → shop/checkout:1.41', targetHash: 'abc', at: at('02:12:36') },
      }),
      sightings: { count: 14, lastSeen: at('02:12:34'), ready: 0, desired: 3 },
      ...over.status,
    },
  };
}

export const approvedByAda = {
  state: 'Approved',
  by: 'telegram:123456789',
  at: at('02:14:10'),
  via: 'telegram',
} as const;
export const executed = { startedAt: at('02:14:11'), appliedAt: at('02:14:12'), undo, stableSeconds: 30 };

/** One quota that blocks four workloads; the proposal is to delete it. */
export const aQuotaFix = (over: FixOptions = {}): Remediation =>
  aFix({
    name: 'platform-hardening',
    n: 7,
    ...over,
    incident: {
      class: 'QuotaExceeded',
      reason: 'FailedCreate',
      object: { kind: 'ResourceQuota', name: 'platform-hardening', uid: uidOf(907) },
      ...over.incident,
    },
    spec: {
      diagnosis: 'requests.memory 50Mi, used 48Mi, pods ask 64Mi to 256Mi',
      context: {
        changed: ['2026-11-16T02:11:58Z ResourceQuota created by gitops-bot'],
        evidence: ['ready when noticed: research 0/1, api 2/3, web 1/2, StatefulSet/worker 0/5'],
      },
      action: { type: 'DeleteResourceQuota', deleteResourceQuota: { name: 'platform-hardening', uid: uidOf(907) } },
      rationale: `The namespace has no such limit afterwards; 4 workloads can start pods again. ${undoIntro}\nkubectl -n shop create -f - <<'EOF'\n{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"platform-hardening"},"spec":{"hard":{"requests.memory":"50Mi"}}}\nEOF`,
      ...over.spec,
    },
    status: {
      preview: {
        diff: 'delete ResourceQuota platform-hardening\n  requests.memory  50Mi',
        targetHash: 'q1',
        at: at('02:12:36'),
      },
      sightings: {
        count: 4,
        lastSeen: at('02:12:34'),
        affected: ['Deployment/research', 'Deployment/api', 'Deployment/web', 'StatefulSet/worker'],
      },
      ...over.status,
    },
  });

/** Something that nothing safe can be done about. */
export const aNotice = (over: FixOptions = {}): Remediation => {
  const fix = aFix({
    name: 'reports',
    n: 3,
    phase: 'Noticed',
    unrehearsed: true,
    ...over,
    incident: { class: 'Unschedulable', severity: 'warning', reason: 'FailedScheduling', ...over.incident },
    spec: {
      diagnosis: 'no node fits: 3 of 5 lack cpu (needs 4); 2 of 5 nodes have taint gpu',
      context: { changed: [], evidence: [] },
      rationale: 'autoscaled',
      ...over.spec,
    },
    status: { sightings: { count: 1, lastSeen: at('02:12:34'), ready: 0, desired: 2 }, ...over.status },
  });
  delete fix.spec.action;
  return fix;
};

export const aNoticeOf = (
  members: readonly Remediation[],
  over: Partial<Notice['spec']> = {},
  status: Notice['status'] = {},
): Notice => ({
  metadata: {
    name: `notice-${members[0]!.metadata.uid}`,
    namespace: 'tapfix',
    uid: uidOf(500),
    resourceVersion: '1',
    creationTimestamp: at('02:12:40'),
  },
  spec: {
    channel: 'telegram',
    chat: '-100500',
    members: members.map(({ metadata }) => ({
      namespace: metadata.namespace!,
      name: metadata.name,
      uid: metadata.uid,
    })),
    form: 'card',
    ...over,
  },
  status,
});

/** Four people with different rights, and one chat. */
export const aConfig = (over: Partial<Config> = {}): Config =>
  aPlainConfig({
    approval: {
      ttl: 1_800_000,
      confirm: ['DeleteResourceQuota'],
      approvers: [
        { name: 'Ada', telegram: 123456789, kubernetesGroups: [] },
        { name: 'Ben', telegram: 222, namespaces: ['shop*'], kubernetesGroups: [] },
        { name: 'Cleo', telegram: 333, namespaces: ['payments'], kubernetesGroups: [] },
        { name: 'Dee', telegram: 444, kubernetesUser: 'dee@example.com', kubernetesGroups: ['sre'] },
      ],
    },
    channels: { telegram: { chat: '-100500', routes: [], apiRoot: 'http://localhost' } },
    ...over,
  });
