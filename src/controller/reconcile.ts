import { LRUCache } from 'lru-cache';
import type { ActionRefusal } from '../actions/action.ts';
import type { ParsedAction } from '../actions/table.ts';
import {
  isAttested,
  isKeyedHere,
  isTrue,
  type Phase,
  phaseOf,
  type Remediation,
  seenCleared,
} from '../kube/remediation.ts';
import { messageOf, RetryLater, unreachable } from '../lib/errors.ts';
import type { Outcome } from '../lib/queue.ts';
import { createLock, type Deps, type Lock, parsedActionOf } from './context.ts';
import { decide, type ControlFacts, type ControlStep, isNewlyCleared } from './decide.ts';
import { createExecutor } from './execute.ts';
import { gather, type Memory } from './gather.ts';
import type { EventWriter } from './kube-events.ts';
import { isWatchedLate } from './recovery.ts';
import { createRehearsal } from './rehearse.ts';
import type { WithRights } from './rights.ts';
import { condition, readAgain, say, type StatusChange } from './write-status.ts';

export interface ReconcileDeps extends Deps {
  lock: Lock;
  withRights: WithRights;
  events: EventWriter;
  /** The name of the Remediation that follows this one. */
  successorOf(fix: Remediation): string | undefined;
  onPhase(phase: Phase): void;
}

const atOnce: Outcome = { againInMs: 0 };
/** Somebody else wrote meanwhile. */
const soon: Outcome = { againInMs: 100 };
const rederiveMs = 1000;

/** One pass over one Remediation: gather, decide, perform exactly one step. */
export function createReconcile(deps: ReconcileDeps): (namespace: string, name: string) => Promise<Outcome> {
  const { api, clock, log, events } = deps;
  const rehearse = createRehearsal(deps);
  const executor = createExecutor(deps);
  const memories = new LRUCache<string, Memory>({ max: 10_000 });
  /** Approved ones are handled one at a time, so that two with the same target cannot both find it free. */
  const admission = createLock();

  async function persist(fix: Remediation, word: StatusChange): Promise<Outcome> {
    const written = await say(api, fix, word, clock.now());
    if (!written) return soon;
    if (word.phase) announce(written, word.phase, word.conditions[0]?.message ?? '');
    if (word.phase && phaseOf(fix) === 'Proposed') audit(written, word.phase);
    return atOnce;
  }

  function announce(fix: Remediation, phase: Phase, message: string): void {
    const { namespace, name } = fix.metadata;
    const { reason } = fix.status?.conditions?.find(({ type }) => type === phase) ?? {};
    log.info({ namespace, name, phase, reason, message }, 'phase');
    deps.onPhase(phase);
    const parsed = parsedActionOf(fix);
    // From the approval on, the target gets an Event as well: kubectl describe shows it.
    const target = isTrue(fix, 'Approved') && !('ok' in parsed) ? parsed.action.target(parsed.params) : undefined;
    events.tell(fix, phase, message, target);
  }

  /**
   * Writes the audit line of a decision made by a Kubernetes user, when we see it and whatever its result. A decision
   * made in chat gets its audit line there.
   */
  function audit({ metadata, spec }: Remediation, phase: Phase): void {
    const { by, via, state: decision } = spec.approval;
    if (decision === 'Pending' || isAttested(by)) return;
    const { namespace, name: fix } = metadata;
    const channel = via ?? 'kubernetes';
    log.info({ audit: true, decision, by, channel, namespace, fix, action: spec.action?.type, phase }, 'decision');
  }

  /** After work that took a while, the record is read again. If it has moved on, the result is dropped. */
  async function persistLater(fix: Remediation, word: StatusChange | undefined): Promise<Outcome> {
    const fresh = word && (await readAgain(api, fix));
    return fresh ? persist(fresh, word) : soon;
  }

  async function execute(
    fix: Remediation,
    memory: Memory,
    step: ControlStep & { do: 'act' | 'finish' },
  ): Promise<Outcome> {
    const parsed = parsedActionOf(fix);
    if ('ok' in parsed) throw new Error(`cannot apply: ${parsed.say}`);
    memory.attempts += 1; // kept only if this throws
    const work = step.do === 'act' ? executor.act(fix, parsed) : executor.finish(fix, parsed, step.nudge);
    const word = await work.catch((error: unknown) => {
      if (error instanceof RetryLater)
        memory.attempts -= 1; // nothing was sent: it cannot be done right now
      else memory.lastError = messageOf(error);
      throw error;
    });
    memory.attempts = 0;
    return persistLater(fix, word);
  }

  async function rehearsal(
    fix: Remediation,
    parsed: ParsedAction | ActionRefusal,
    facts: ControlFacts,
  ): Promise<Outcome> {
    const word = await rehearse(fix, parsed, facts.guard);
    const fresh = word.conditions.length > 0 ? await readAgain(api, fix) : undefined;
    // It was decided meanwhile: a preview that is older than Approved would look like one that was shown.
    if (fresh && fresh.spec.approval.state !== fix.spec.approval.state) return atOnce;
    const again = fresh ? await persist(fresh, word) : soon;
    return word.conditions.some(({ type }) => type === 'Confirmed') ? again : { againInMs: rederiveMs };
  }

  function perform(step: ControlStep, facts: ControlFacts, memory: Memory): Promise<Outcome> | Outcome {
    const { fix, nowMs } = facts;
    switch (step.do) {
      case 'nothing':
        return undefined;
      case 'wait':
        return { againInMs: Math.max(step.untilMs - nowMs, 0) };
      case 'rehearse':
        return rehearsal(fix, parsedActionOf(fix), facts);
      case 'move': {
        const { phase, reason, message, execution } = step;
        const word = { phase, conditions: [condition(phase, true, reason, message)] };
        return persist(fix, execution ? { ...word, execution } : word);
      }
      case 'note cleared': {
        const seen = condition(seenCleared, true, 'Cleared', 'the controller has seen that the incident is over');
        return persist(fix, { conditions: [seen] });
      }
      case 'act':
      case 'finish':
        return execute(fix, memory, step);
      default:
        return unreachable(step);
    }
  }

  async function pass(fix: Remediation): Promise<Outcome> {
    const { uid } = fix.metadata;
    const memory = memories.get(uid) ?? { attempts: 0 };
    memories.set(uid, memory);
    const facts = await gather(deps, fix, memory, deps.successorOf(fix)).catch((error: unknown) => {
      delete memory.stable; // a target that could not be read was not seen to be healthy
      throw error;
    });
    if (facts.stable) memory.stable = facts.stable;
    else delete memory.stable;
    if (facts.live) memory.longestUptimeMs = facts.live.longestUptimeMs;
    if (facts.asManyAtMs !== undefined) memory.asManyAtMs = facts.asManyAtMs;
    return perform(decide(facts, deps.judge), facts, memory);
  }

  return async (namespace, name) => {
    const read = () => api.get<Remediation>({ kind: 'Remediation', namespace, name });
    const fix = await read();
    if (!fix) return undefined;
    if (phaseOf(fix) !== 'Approved') return pass(fix);
    return admission(async () => {
      const fresh = await read();
      return fresh && pass(fresh);
    });
  };
}

/**
 * Whether a pass over it could do anything. A record whose key names another namespace is not begun; one that an older
 * version began is finished, because its target stays busy until then.
 */
export function isOfInterest(fix: Remediation, nowMs: number): boolean {
  if (['Applying', 'Applied'].includes(phaseOf(fix)) || isWatchedLate(fix, nowMs) || isNewlyCleared(fix)) return true;
  return isKeyedHere(fix) && ['', 'Noticed', 'Proposed', 'Approved'].includes(phaseOf(fix));
}
