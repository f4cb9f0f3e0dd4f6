import { z } from 'zod';
import type { KubeObject } from './api.ts';
import { hashOf } from '../lib/hash.ts';
import { beginning } from './raw.ts';

/**
 * The Remediation resource. These schemas are the one source of its TypeScript types *and* of its
 * CustomResourceDefinition (manifests/crd.ts): `meta` carries what only the API server checks.
 */
export const group = 'tapfix.dev';
export const remediationKind = 'Remediation';

/**
 * No control bytes: a card is read on a phone, and a bell or an escape in it is an attack. Newline and tab are allowed.
 */
export const plainText = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .regex(/^[^\x00-\x08\x0b-\x1f\x7f]*$/);
/** No control bytes here either, and no space or slash, so that one value cannot look like two. */
const word = z.string().regex(/^[^\x00-\x20\x7f/]*$/);
export const objectName = word.min(1).max(253);
export const uid = word.min(1).max(64);
const kindName = word.max(63);
/**
 * A time that CEL can parse. The format `date-time` alone also accepts an offset of "+99:99" and a lower-case "t"; the
 * rules of the resource cannot read those, and would refuse every later update of the record.
 */
export const time = z
  .string()
  .regex(
    /^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$/,
  )
  .meta({ format: 'date-time' });

/** Annotation: the incident existed before the process that proposed this. The value is when that process started. */
export const foundAtStart = 'tapfix.dev/found-at-start';

const severities = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

export const phases = [
  'Proposed', 'Approved', 'Applying', 'Applied', 'Recovered', 'Rejected', 'Expired', 'Failed', 'Resolved', 'Superseded', 'Noticed',
] as const; // prettier-ignore
export type Phase = (typeof phases)[number];

/** All phase transitions; the CRD refuses all others. '' is a new Remediation without a phase. */
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

/** `action` without its params blocks: each action's file defines its own (manifests/crd.ts puts them together). */
export type ActionSpec = { type: string } & Record<string, unknown>;

const lines = z.array(plainText(512)).max(10).default([]);

/**
 * A person who proposes with kubectl may leave out the fields that have a default. tapfix itself always sets all of
 * them.
 */
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
      /** "2/3", for `kubectl get fix`: a column cannot join two fields. */
      readiness: plainText(24).optional(),
      severity: z.enum(severities).optional(),
      severitySince: time.optional(),
      affected: z.array(plainText(317)).max(50).optional(),
    })
    .optional(),
});
export type RemediationStatus = z.infer<typeof remediationStatusSchema>;

export interface Remediation extends KubeObject {
  spec: RemediationSpec;
  status?: RemediationStatus;
}

/** Anything that is not a valid Remediation of ours (half-written, of another version) is ignored. */
export function viewRemediation(object: KubeObject): Remediation | undefined {
  const fix = object as Remediation;
  if (!fix.metadata?.uid || !fix.spec?.incident?.key || !fix.spec.approval) return undefined;
  const { managedFields: _writers, labels: _labels, annotations, ...metadata } = fix.metadata;
  return { ...fix, metadata: annotations ? { ...metadata, annotations: ours(annotations) } : metadata };
}

/** Every record is kept in memory, so annotations of others are not. */
const ours = (annotations: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(annotations)
      .filter(([key]) => key.startsWith(`${group}/`))
      .map(([key, value]) => [key, beginning(value, 1024)]),
  );

/**
 * Whether its key names its own namespace. A key is believed only then: a record of another namespace must not hold the
 * episode of this one. Incidents of cluster-scoped objects are in tapfix's own namespace, and so are their keys.
 */
export const isKeyedHere = ({ metadata, spec }: Remediation): boolean =>
  spec.incident.key.startsWith(`${metadata.namespace ?? ''}/`);

/** The parts of a Remediation that say which one it follows. */
export interface Link {
  namespace: string | undefined;
  name: string;
  uid: string;
  /** The key of its incident. */
  incident: string;
  follows: { name: string; uid: string } | undefined;
}

export const linkOf = ({ metadata: { namespace, name, uid }, spec }: Remediation): Link => ({
  namespace,
  name,
  uid,
  incident: spec.incident.key,
  follows: spec.follows,
});

/**
 * Pure. Whether `next` replaces, repeats or reverses this one. Only a record of the same namespace and the same incident
 * can, and only if it names exactly this record.
 */
export const isAfter = (next: Link, { namespace, incident, name, uid }: Link): boolean =>
  next.follows?.uid === uid && next.follows.name === name && next.namespace === namespace && next.incident === incident;

/** Finds, among these, the one that a Remediation follows. */
export function predecessorsIn(fixes: readonly Remediation[]): (fix: Remediation) => Remediation | undefined {
  const byUid = new Map(fixes.map((fix) => [fix.metadata.uid, fix]));
  return (fix) => {
    const before = byUid.get(fix.spec.follows?.uid ?? '');
    return before && isAfter(linkOf(fix), linkOf(before)) ? before : undefined;
  };
}

/** Finds, among these, the last one that follows a Remediation, or follows one that does; it may be that one itself. */
export function latestIn(fixes: readonly Remediation[]): (fix: Remediation) => Remediation {
  const predecessorOf = predecessorsIn(fixes);
  const next = new Map<string, string>();
  for (const fix of fixes) {
    const before = predecessorOf(fix);
    if (before) next.set(before.metadata.uid, fix.metadata.uid);
  }
  const byUid = new Map(fixes.map((fix) => [fix.metadata.uid, fix]));
  return (fix) => {
    let last = fix;
    for (const passed = new Set<string>(); !passed.has(last.metadata.uid);) {
      passed.add(last.metadata.uid);
      last = byUid.get(next.get(last.metadata.uid) ?? '') ?? last;
    }
    return last;
  };
}

/** The uids of those that another one of these follows. */
export function replacedIn(fixes: readonly Remediation[]): ReadonlySet<string> {
  const predecessorOf = predecessorsIn(fixes);
  return new Set(fixes.flatMap((fix) => predecessorOf(fix)?.metadata.uid ?? []));
}

export const overPhases: readonly Phase[] = ['Recovered', 'Rejected', 'Expired', 'Failed', 'Resolved', 'Superseded'];
const over: ReadonlySet<Phase> = new Set(overPhases);

/** The reason of Recovered when the target was to be switched off, and is off. */
export const switchedOff = 'SwitchedOff';

/** In a rationale: the text after this, to the end, is a command to copy. */
export const undoIntro = 'To undo:';

/** The two parts of a rationale: why the fix is safe, and the command that undoes it, if it has one. */
export function rationaleParts({ spec: { rationale } }: Remediation): { why: string; undo?: string } {
  const at = rationale.indexOf(`${undoIntro}\n`);
  if (at < 0) return { why: rationale.trim() };
  return { why: rationale.slice(0, at).trim(), undo: rationale.slice(at + undoIntro.length).trim() };
}

/* Sentences that proposals write, and of which a card repeats a part. */

/** The beginning of the rationale of an undo. */
export const seenHealthy = (revision: number, time: string): string =>
  `Revision ${revision} was seen healthy for ${time}`;
/** "6 days" */
export const healthyTimeIn = ({ spec }: Remediation): string | undefined =>
  /^Revision \d+ was seen healthy for ([^;.]{1,40})[;.]/.exec(spec.rationale)?.[1];

/** The beginning of the line of evidence that has the workloads behind a quota: "research 0/1, api 2/3". */
export const readyWhenNoticed = 'ready when noticed: ';

/** Annotation of a workload: its runbook. People who run it write there what they like. */
export const runbookAnnotation = 'tapfix.dev/runbook';
/** The beginning of the line of evidence that has it. */
export const runbookLine = 'runbook: ';

/** The reason for failures that tapfix can only report. */
export const noFix = 'no one-tap fix';

/**
 * Set if fewer pods were ready when the recovery time was over than before the fix was applied, and also fewer than
 * wanted (notHelped in controller/recovery.ts records it only then).
 */
export function madeItWorse({ status }: Remediation): { before: number; after: number } | undefined {
  const { readyBefore: before, readyAfter: after } = status?.execution ?? {};
  return status?.phase === 'Failed' && before !== undefined && after !== undefined && after < before
    ? { before, after }
    : undefined;
}
/** When nothing can be undone, the undo command is a shell comment that says so. This returns it as a sentence. */
export const nothingToUndo = (undo: string): string | undefined =>
  undo.startsWith('# ') ? `${undo.charAt(2).toUpperCase()}${undo.slice(3)}.` : undefined;

export const phaseOf = (fix: Remediation): Phase | '' => fix.status?.phase ?? '';
/** Approved and not over: the controller is working on it, or is about to. */
export const isBeingFixed = (fix: Remediation): boolean => ['Approved', 'Applying', 'Applied'].includes(phaseOf(fix));
/** The severity in force. The spec has the first one; the watcher raises it when the impact grows. */
export const severityOf = ({ spec, status }: Remediation): Severity =>
  status?.sightings?.severity ?? spec.incident.severity;
const rankOf = (severity: Severity): number => severities.indexOf(severity);
export const moreSevere = (a: Severity, b: Severity): Severity => (rankOf(a) <= rankOf(b) ? a : b);
/** Lower is more severe. */
export const severityRank = (fix: Remediation): number => rankOf(severityOf(fix));
/** The same of the severity that it was recorded with: what its message was posted as, unless it has risen by then. */
export const firstSeverityRank = ({ spec }: Remediation): number => rankOf(spec.incident.severity);
/** When its episode became as severe as it is now; undefined if it has been from the beginning. */
export function risenAtMs({ status }: Remediation): number | undefined {
  const atMs = Date.parse(status?.sightings?.severitySince ?? '');
  return Number.isFinite(atMs) ? atMs : undefined;
}
export const isOver = (fix: Remediation): boolean => over.has(fix.status?.phase ?? ('' as Phase));
export const expiresAtMs = (fix: Remediation): number =>
  Date.parse(fix.metadata.creationTimestamp) + fix.spec.ttlMinutes * 60_000;
export const conditionOf = (fix: Remediation, type: string): Condition | undefined =>
  fix.status?.conditions?.find((condition) => condition.type === type);
export const isTrue = (fix: Remediation, type: string): boolean => conditionOf(fix, type)?.status === 'True';
/** The episode is over: the watcher saw the target healthy for the recovery window. */
export const isCleared = (fix: Remediation): boolean => isTrue(fix, 'IncidentCleared');
/** The workload is broken until it is cleared, whatever became of the proposal: rejected, expired or failed. */
export const isBroken = (fix: Remediation): boolean =>
  !isCleared(fix) && !['Recovered', 'Resolved', 'Superseded'].includes(phaseOf(fix));
/**
 * The controller's own condition: since when it has known that the episode is over. Retention counts from it, and never
 * from a time that the watcher wrote.
 */
export const seenCleared = 'SeenCleared';
/** Recorded by the watcher for a person in chat, not by that person's own Kubernetes identity. */
export const isAttested = (by: string | undefined): boolean => /^(telegram|slack):/.test(by ?? '');

/**
 * The reason when the API server gave no clear answer for a while. A rehearsal with it is shown on the card, and is
 * still tried again.
 */
export const noAnswer = 'NoAnswer';
export const isRehearsalUnclear = (fix: Remediation): boolean => conditionOf(fix, 'Rehearsed')?.reason === noAnswer;

/** The result of a request to propose again: a successor, or why there is none. */
export type Again =
  | { ok: true; name: string }
  | { ok: false; because: 'gone' | 'replaced' | 'over' | 'healthy' | 'too often' }
  /** The same fix failed, or no fix is safe any more; `why` explains it. */
  | { ok: false; because: 'nothing'; why: string };

/**
 * People set it with kubectl on a Remediation that expired or failed: "true" asks for a new proposal, as the button
 * does.
 */
const proposeAgainAnnotation = 'tapfix.dev/propose-again';
export const isAskedAgain = (fix: Remediation): boolean =>
  fix.metadata.annotations?.[proposeAgainAnnotation] === 'true' && ['Expired', 'Failed'].includes(phaseOf(fix));

/**
 * Proposed by a program, not a person: tapfix's own watcher, with whatever credentials it has (`self`), or some other
 * program.
 */
export const isProposedByProgram = ({ spec }: Remediation, self?: string): boolean =>
  spec.proposedBy === self || spec.proposedBy.startsWith('system:serviceaccount:');

/** "#3f9a1c": short enough to type, and the same for every proposal of one incident. */
export const shortIdOf = ({ spec }: Remediation): string => `#${hashOf(spec.incident.key, 6)}`;

/** Proposed by the watcher that is installed in this namespace. */
export const isProposedFrom = ({ spec }: Remediation, namespace: string): boolean =>
  spec.proposedBy.startsWith(`system:serviceaccount:${namespace}:`);

/** The list with this condition set. Its time changes only when its status does. */
export function withCondition(conditions: readonly Condition[] | undefined, next: Condition): Condition[] {
  const others = (conditions ?? []).filter(({ type }) => type !== next.type);
  const before = conditions?.find(({ type }) => type === next.type);
  const lastTransitionTime = before?.status === next.status ? before.lastTransitionTime : next.lastTransitionTime;
  return [...others, { ...next, lastTransitionTime }];
}

/**
 * Annotations that people set, in chat or with kubectl: somebody is working on it; it stays quiet until the given time.
 */
export const acknowledgedBy = 'tapfix.dev/acknowledged-by';
/** Until when the answer of whoever acknowledged it counts. */
export const acknowledgedUntil = 'tapfix.dev/acknowledged-until';
export const snoozedUntil = 'tapfix.dev/snoozed-until';

/** "telegram:123456789", or a Kubernetes user. */
export const whoIsOnIt = ({ metadata }: Remediation): string | undefined =>
  metadata.annotations?.[acknowledgedBy] || undefined;

/**
 * When the answer of whoever acknowledged it ends; undefined if nobody did. Somebody who used kubectl may have given no
 * time: the watcher adds it.
 */
export const acknowledgedUntilMs = (fix: Remediation): number | undefined =>
  whoIsOnIt(fix) === undefined ? undefined : Date.parse(fix.metadata.annotations?.[acknowledgedUntil] ?? '');

/** The end of the snooze, if it is in the future. A value that is not a time is ignored. */
export function snoozedUntilMs({ metadata }: Remediation, nowMs: number): number | undefined {
  const untilMs = Date.parse(metadata.annotations?.[snoozedUntil] ?? '');
  return untilMs > nowMs ? untilMs : undefined;
}
