import type { ActionRefusal } from '../actions/action.ts';
import { isProtected, readNamespaceLabels } from '../actions/ownership.ts';
import type { Config } from '../config/schema.ts';
import { isSelected } from '../config/selection.ts';
import { readAffected } from '../diagnosis/health.ts';
import { createSnapshot } from '../diagnosis/readers.ts';
import type { Stable } from '../health/stability.ts';
import type { LiveHealth } from '../health/trouble.ts';
import { gone } from '../health/workload-health.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import { controllerOf, timeMs } from '../kube/raw.ts';
import { type Blocked, phaseOf, type Remediation } from '../kube/remediation.ts';
import { RetryLater } from '../lib/errors.ts';
import { isAlwaysOut } from '../lib/namespaces.ts';
import { contextOf, type Deps, parsedActionOf, subjectOf } from './context.ts';
import { type ControlFacts, needsRehearsal, wasInterrupted } from './decide.ts';
import { hasAsMany, isWatchedLate, nextStable } from './recovery.ts';
import { readRivals } from './rivals.ts';

/**
 * After the quota is gone: are the workloads that it blocked healthy? If one of several workloads is gone, that is no
 * problem.
 */
export async function readBlockedHealth(
  reader: Reader,
  namespace: string,
  blocked: readonly Blocked[],
  { nowMs, sinceMs }: { nowMs: number; sinceMs: number },
): Promise<LiveHealth> {
  if (blocked.length === 0)
    return { ...gone, gone: false, healthy: false, why: 'it is not known which workloads it blocked' };
  const from = createSnapshot(reader, namespace);
  const workloads = await Promise.all(blocked.map((owner) => workloadOf(from, namespace, owner)));
  return readAffected(reader, namespace, [...new Set(workloads)], nowMs, sinceMs);
}

/** A ReplicaSet may be scaled down or gone because its Deployment rolled on, so the Deployment counts. */
async function workloadOf(reader: Reader, namespace: string, { kind, name, uid }: Blocked): Promise<string> {
  if (kind !== 'ReplicaSet') return `${kind}/${name}`;
  const live = await reader.get<KubeObject>({ kind, namespace, name });
  if (live?.metadata.uid !== uid) return `Deployment/${name.replace(/-[^-]+$/, '')}`;
  const owner = controllerOf(live.metadata);
  return owner?.kind === 'Deployment' ? `Deployment/${owner.name}` : `ReplicaSet/${name}`;
}

interface Place {
  namespace: string;
  /** tapfix's own namespace. */
  own: string;
  labels?: Record<string, string>;
}

/** Pure: why nothing may be changed in this namespace; undefined if it may. */
export function guard({ namespace, own, labels }: Place, config: Config): ActionRefusal | undefined {
  if (isAlwaysOut(namespace, own) || isProtected({ labels: labels ?? {} })) {
    return no(
      'ProtectedNamespace',
      `Namespace ${namespace} is protected: tapfix only posts messages, it changes nothing there.`,
    );
  }
  if (!isSelected(config, namespace, own)) {
    return no('NotWatched', `Namespace ${namespace} is not among those that tapfix is configured for.`);
  }
  return undefined;
}

const no = (reason: string, say: string): ActionRefusal => ({ ok: false, reason, say });

/** State that only this process keeps. Losing it is safe: a window starts again, or a try is not counted. */
export interface Memory {
  stable?: Stable;
  longestUptimeMs?: number;
  /** The last time at which as many were ready as before the fix. */
  asManyAtMs?: number;
  attempts: number;
  /** The error of the last try. */
  lastError?: string;
}

/** Reads what the rules of the phase need, and no more. */
export async function gather(deps: Deps, fix: Remediation, memory: Memory, successor?: string): Promise<ControlFacts> {
  const nowMs = deps.clock.now();
  const { identity: self } = deps;
  const facts: ControlFacts = {
    fix,
    nowMs,
    config: deps.current(),
    ...(self && { self }),
    ...(successor && { successor }),
  };
  const phase = phaseOf(fix);
  if (phase === 'Approved') return approved(deps, facts, memory);
  if (phase === 'Proposed' && needsRehearsal(fix)) return guarded(deps, facts);
  if (phase === 'Applying') return applying(deps, facts, memory);
  if (phase === 'Applied' || (isWatchedLate(fix, nowMs) && !successor)) return watching(deps, facts, memory);
  return facts;
}

async function guarded(deps: Deps, facts: ControlFacts): Promise<ControlFacts> {
  const namespace = facts.fix.metadata.namespace!;
  const labels = await readNamespaceLabels(deps.api, namespace);
  const refusal = guard({ namespace, own: deps.namespace, labels }, facts.config);
  return refusal ? { ...facts, guard: refusal } : facts;
}

async function approved(deps: Deps, facts: ControlFacts, memory: Memory): Promise<ControlFacts> {
  const { fix, nowMs } = facts;
  const patienceMs = deps.patienceMs(fix.spec.incident.class);
  const known = { ...(await guarded(deps, facts)), patienceMs };
  const parsed = parsedActionOf(fix);
  if (known.guard || needsRehearsal(fix)) return known;
  if ('ok' in parsed) return { ...known, prepared: parsed };
  // Only our own reading counts: the watcher's list of affected workloads is only its claim, and no reason to act.
  const live = withPast(memory, await deps.readHealth(deps.api, subjectOf(fix), nowMs));
  const stable = stableSince(fix, memory, live, nowMs);
  // One Remediation per target at a time.
  const busy = (await readRivals(deps.api, fix, parsed))[0]?.metadata.name;
  // A healed target needs no plan, and a plan that cannot be made right now must not stop the clock.
  const prepared = live.healthy
    ? undefined
    : await unlessLater(parsed.action.prepare(parsed.params, contextOf(fix, deps.api)));
  const before = prepared?.ok ? { readyBefore: await readReady(deps, fix, prepared.blocked, live, nowMs) } : {};
  return { ...known, live, ...before, ...(prepared && { prepared }), ...(stable && { stable }), ...(busy && { busy }) };
}

/** For a quota: how many are ready among the workloads that it blocks, as its recovery will be read. */
async function readReady(
  { api }: Deps,
  fix: Remediation,
  blocked: readonly Blocked[],
  live: LiveHealth,
  nowMs: number,
): Promise<number> {
  if (fix.spec.action?.type !== 'DeleteResourceQuota') return live.ready;
  return (await readBlockedHealth(api, fix.metadata.namespace!, blocked, { nowMs, sinceMs: nowMs })).ready;
}

/** undefined if it cannot be done right now. */
async function unlessLater<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RetryLater) return undefined;
    throw error;
  }
}

async function applying(deps: Deps, facts: ControlFacts, memory: Memory): Promise<ControlFacts> {
  const { fix, nowMs } = facts;
  const parsed = parsedActionOf(fix);
  if ('ok' in parsed) return facts;
  const before = fix.status?.execution?.before ?? '{}';
  const trace = await parsed.action.inspect(parsed.params, before, contextOf(fix, deps.api));
  const { attempts, lastError } = memory;
  const known = { ...(await guarded(deps, facts)), trace, attempts, ...(lastError && { lastError }) };
  if (trace !== 'untouched' || !wasInterrupted(fix, nowMs)) return known;
  const live = withPast(memory, await deps.readHealth(deps.api, subjectOf(fix), nowMs));
  const stable = stableSince(fix, memory, live, nowMs);
  return { ...known, live, ...(stable && { stable }) };
}

async function watching(deps: Deps, facts: ControlFacts, memory: Memory): Promise<ControlFacts> {
  const { fix, nowMs } = facts;
  const live = withPast(memory, await readTarget(deps, fix, nowMs));
  const stable = stableSince(fix, memory, live, nowMs);
  const asManyAtMs = hasAsMany(fix.status?.execution?.readyBefore, live) ? nowMs : memory.asManyAtMs;
  return { ...facts, live, ...(stable && { stable }), ...(asManyAtMs !== undefined && { asManyAtMs }) };
}

/** Adds what this process has seen so far: new pods have no past, but the failure has. */
const withPast = ({ longestUptimeMs = 0 }: Memory, live: LiveHealth): LiveHealth => ({
  ...live,
  longestUptimeMs: Math.max(longestUptimeMs, live.longestUptimeMs),
});

const stableSince = (fix: Remediation, { stable }: Memory, live: LiveHealth, nowMs: number): Stable | undefined =>
  nextStable(stable, live, timeMs(fix.status?.sightings?.lastSeen), nowMs);

function isSwitchedOff(fix: Remediation): boolean {
  const parsed = parsedActionOf(fix);
  return !('ok' in parsed) && (parsed.action.switchesOff?.(parsed.params) ?? false);
}

/**
 * The quota itself is gone by now, so the workloads that it blocked count. A target that is gone, or switched off by
 * others, did not recover.
 */
async function readTarget({ api, readHealth }: Deps, fix: Remediation, nowMs: number): Promise<LiveHealth> {
  const { namespace } = contextOf(fix, api);
  const { blocked = [], appliedAt } = fix.status?.execution ?? {};
  const live =
    fix.spec.action?.type === 'DeleteResourceQuota'
      ? await readBlockedHealth(api, namespace, blocked, { nowMs, sinceMs: timeMs(appliedAt) })
      : await readHealth(api, subjectOf(fix), nowMs);
  if (live.gone) return { ...live, healthy: false, why: 'it is no longer there' };
  return live.ended && !isSwitchedOff(fix) ? { ...live, healthy: false, why: live.ended } : live;
}
