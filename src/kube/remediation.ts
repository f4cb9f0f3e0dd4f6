import { z } from 'zod';
import type { KubeObject } from './api.ts';

/**
 * The Remediation resource. These schemas are the one source of its TypeScript types *and* of its
 * CustomResourceDefinition (manifests/crd.ts): `meta` carries what only the API server checks.
 */
export const group = 'tapfix.dev';
export const remediationKind = 'Remediation';

/** No control bytes: a card is read on a phone, and a bell or an escape in it is somebody's trick. Newline and tab pass. */
export const plainText = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .regex(/^[^\x00-\x08\x0b-\x1f\x7f]*$/);
/** No control bytes in these either, and nothing that could be taken for two of them. */
const word = z.string().regex(/^[^\x00-\x20\x7f/]*$/);
export const objectName = word.min(1).max(253);
export const uid = word.min(1).max(64);
const kindName = word.max(63);
const time = z.string().meta({ format: 'date-time' });

/** Annotation: it was broken before the process that proposed it came, which was then. */
export const foundAtStart = 'tapfix.dev/found-at-start';

const severities = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

export const phases = [
  'Proposed', 'Approved', 'Applying', 'Applied', 'Recovered', 'Rejected', 'Expired', 'Failed', 'Resolved', 'Superseded', 'Noticed',
] as const; // prettier-ignore
export type Phase = (typeof phases)[number];

/** Every move there is; the CRD refuses all others. From '' is the first word about a new Remediation. */
export const transitions: Readonly<Record<Phase | '', readonly Phase[]>> = {
  '': ['Proposed', 'Noticed'],
  Proposed: ['Approved', 'Rejected', 'Expired', 'Failed', 'Resolved', 'Superseded'],
  Approved: ['Applying', 'Failed', 'Resolved'],
  Applying: ['Applied', 'Failed'],
  Applied: ['Recovered', 'Failed'],
  Failed: ['Recovered'],
  Noticed: ['Resolved', 'Superseded'],
  Recovered: [],
  Rejected: [],
  Expired: [],
  Resolved: [],
  Superseded: [],
};

const approvalStates = ['Pending', 'Approved', 'Rejected'] as const;

const approvalSchema = z.object({
  state: z.enum(approvalStates),
  by: plainText(256).optional(),
  at: time.optional(),
  via: plainText(32).optional(),
  note: plainText(512).optional(),
});
export type Approval = z.infer<typeof approvalSchema>;

const incidentSchema = z.object({
  key: plainText(512),
  class: plainText(64),
  severity: z.enum(severities),
  reason: plainText(128),
  object: z.object({ kind: kindName, name: objectName, uid: word.max(64) }),
  message: plainText(1024),
  firstSeen: time,
});
export type IncidentRecord = z.infer<typeof incidentSchema>;

/** `action` without its params blocks: each action's file brings its own (manifests/crd.ts puts them together). */
export type ActionSpec = { type: string } & Record<string, unknown>;

const lines = z.array(plainText(512)).max(10).default([]);

/** What has a default a person who proposes with kubectl may leave out; tapfix itself always says all of it. */
export const remediationSpecSchema = z.object({
  incident: incidentSchema,
  diagnosis: plainText(512).default(''),
  context: z.object({ changed: lines, evidence: lines }).default({ changed: [], evidence: [] }),
  follows: z.object({ name: objectName, uid }).optional(),
  rationale: plainText(2048).default(''),
  proposedBy: plainText(256),
  ttlMinutes: z.number().int().min(1).max(60).default(30),
  approval: approvalSchema.default({ state: 'Pending' }),
});
export type RemediationSpec = z.infer<typeof remediationSpecSchema> & { action?: ActionSpec };

const conditionSchema = z.object({
  type: plainText(64),
  status: z.enum(['True', 'False']),
  reason: plainText(64),
  message: plainText(1024),
  lastTransitionTime: time,
});
export type Condition = z.infer<typeof conditionSchema>;

const blockedSchema = z.object({ kind: kindName, name: objectName, uid });
export type Blocked = z.infer<typeof blockedSchema>;

export const remediationStatusSchema = z.object({
  phase: z.enum(phases).optional(),
  conditions: z
    .array(conditionSchema)
    .max(32)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
    .optional(),
  preview: z.object({ diff: plainText(8192), targetHash: z.string().max(64), at: time }).optional(),
  execution: z
    .object({
      startedAt: time.optional(),
      appliedAt: time.optional(),
      before: z.string().max(262144).optional(),
      after: z.string().max(262144).optional(),
      blocked: z.array(blockedSchema).max(200).optional(),
      undo: plainText(4096).optional(),
      stableSeconds: z.number().int().min(0).max(600).optional(),
      readyBefore: z.number().int().min(0).optional(),
      readyAfter: z.number().int().min(0).optional(),
    })
    .optional(),
  sightings: z
    .object({
      count: z.number().int().min(0),
      lastSeen: time,
      ready: z.number().int().min(0).optional(),
      desired: z.number().int().min(0).optional(),
      affected: z.array(plainText(317)).max(50).optional(),
    })
    .optional(),
});
export type RemediationStatus = z.infer<typeof remediationStatusSchema>;

export interface Remediation extends KubeObject {
  spec: RemediationSpec;
  status?: RemediationStatus;
}

/** Anything that is not one of ours (half-written, of another version) is nobody's business. */
export function viewRemediation(object: KubeObject): Remediation | undefined {
  const fix = object as Remediation;
  if (!fix.metadata?.uid || !fix.spec?.incident?.key || !fix.spec.approval) return undefined;
  const { managedFields: _unused, ...metadata } = fix.metadata;
  return { ...fix, metadata };
}

export const overPhases: readonly Phase[] = ['Recovered', 'Rejected', 'Expired', 'Failed', 'Resolved', 'Superseded'];
const over: ReadonlySet<Phase> = new Set(overPhases);

/** Why it is Recovered: it was to run nothing any more, and does not. */
export const switchedOff = 'SwitchedOff';

/** In a rationale: what follows, to its end, is a command to copy. */
export const undoIntro = 'Put it back with:';

/** Fewer were ready when its time was over than before it was applied; of those that are still wanted. */
export function madeItWorse({ status }: Remediation): { before: number; after: number } | undefined {
  const { readyBefore: before, readyAfter: after } = status?.execution ?? {};
  return status?.phase === 'Failed' && before !== undefined && after !== undefined && after < before
    ? { before, after }
    : undefined;
}
/** Where there is nothing to put back, the command is a comment that says so: as a sentence. */
export const nothingToUndo = (undo: string): string | undefined =>
  undo.startsWith('# ') ? `${undo.charAt(2).toUpperCase()}${undo.slice(3)}.` : undefined;

export const phaseOf = (fix: Remediation): Phase | '' => fix.status?.phase ?? '';
/** Decided for, and not over: the controller is at work on it, or about to be. */
export const isBeingFixed = (fix: Remediation): boolean => ['Approved', 'Applying', 'Applied'].includes(phaseOf(fix));
/** Lower is more severe. */
export const severityRank = ({ spec }: Remediation): number => severities.indexOf(spec.incident.severity);
export const isOver = (fix: Remediation): boolean => over.has(fix.status?.phase ?? ('' as Phase));
export const expiresAtMs = (fix: Remediation): number =>
  Date.parse(fix.metadata.creationTimestamp) + fix.spec.ttlMinutes * 60_000;
export const conditionOf = (fix: Remediation, type: string): Condition | undefined =>
  fix.status?.conditions?.find((condition) => condition.type === type);
export const isTrue = (fix: Remediation, type: string): boolean => conditionOf(fix, type)?.status === 'True';
/** The episode is over: the watcher saw the target healthy for the recovery window. */
export const isCleared = (fix: Remediation): boolean => isTrue(fix, 'IncidentCleared');
/** Recorded by the watcher for a person in chat, not by that person's own Kubernetes identity. */
export const isAttested = (by: string | undefined): boolean => /^(telegram|slack):/.test(by ?? '');

/** The reason where the API server gave no clear answer for a while. Of a rehearsal it is said, and asked again all the same. */
export const noAnswer = 'NoAnswer';
export const isRehearsalUnclear = (fix: Remediation): boolean => conditionOf(fix, 'Rehearsed')?.reason === noAnswer;

/** What became of the wish to propose something once more: a successor, or why there is none. */
export type Again =
  | { ok: true; name: string }
  | { ok: false; because: 'gone' | 'replaced' | 'over' | 'healthy' | 'too often' }
  /** The same fix failed, or nothing is safe any more: in words. */
  | { ok: false; because: 'nothing'; why: string };

/** Set with kubectl on one that expired or failed: "true" asks for a new proposal, as the button does. */
const proposeAgainAnnotation = 'tapfix.dev/propose-again';
export const isAskedAgain = (fix: Remediation): boolean =>
  fix.metadata.annotations?.[proposeAgainAnnotation] === 'true' && ['Expired', 'Failed'].includes(phaseOf(fix));

/** Not a person: tapfix's own watcher, whoever's credentials it has (`self`), or some other program. */
export const isProposedByProgram = ({ spec }: Remediation, self?: string): boolean =>
  spec.proposedBy === self || spec.proposedBy.startsWith('system:serviceaccount:');

/** By the watcher that is installed in this namespace. */
export const isProposedFrom = ({ spec }: Remediation, namespace: string): boolean =>
  spec.proposedBy.startsWith(`system:serviceaccount:${namespace}:`);

/** The list with this condition set; the time only moves when the status does. */
export function withCondition(conditions: readonly Condition[] | undefined, next: Condition): Condition[] {
  const others = (conditions ?? []).filter(({ type }) => type !== next.type);
  const before = conditions?.find(({ type }) => type === next.type);
  const lastTransitionTime = before?.status === next.status ? before.lastTransitionTime : next.lastTransitionTime;
  return [...others, { ...next, lastTransitionTime }];
}

/** Annotations that people set, in chat or with kubectl alike: somebody is on it; nobody wants to hear of it until then. */
export const acknowledgedBy = 'tapfix.dev/acknowledged-by';
export const snoozedUntil = 'tapfix.dev/snoozed-until';

/** "telegram:123456789", or a Kubernetes user. */
export const whoIsOnIt = ({ metadata }: Remediation): string | undefined =>
  metadata.annotations?.[acknowledgedBy] || undefined;

/** Until when, if that is still to come; what is not a time says nothing. */
export function snoozedUntilMs({ metadata }: Remediation, nowMs: number): number | undefined {
  const untilMs = Date.parse(metadata.annotations?.[snoozedUntil] ?? '');
  return untilMs > nowMs ? untilMs : undefined;
}
