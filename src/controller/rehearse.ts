import { type ActionPlan, type ActionRefusal, no, type Prepared, type Target } from '../actions/action.ts';
import type { ParsedAction } from '../actions/table.ts';
import { targetGone } from '../actions/workload-patch.ts';
import type { Config } from '../config/schema.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import { readOwners } from '../kube/owners.ts';
import { controllerOf } from '../kube/raw.ts';
import { conditionOf, isRehearsalUnclear, noAnswer, type Remediation } from '../kube/remediation.ts';
import { iso } from '../lib/clock.ts';
import { messageOf, RetryLater } from '../lib/errors.ts';
import { sameValue } from '../lib/hash.ts';
import { contextOf, type Deps, type Lock, subjectOf } from './context.ts';
import { rehearseNudges } from './nudging.ts';
import type { WithRights } from './rights.ts';
import { hasMoved, isUnclear, refusedBy, send } from './send.ts';
import { condition, type StatusChange } from './write-status.ts';

interface Named {
  kind: string;
  name: string;
  uid: string;
}

/**
 * The incident's object is what we read to see whether the failure is still there and whether it recovered. So the fix
 * must change that object, or a pod that belongs to it by owner references.
 */
async function wrongTarget(
  { metadata, spec }: Remediation,
  parsed: ParsedAction | ActionRefusal,
  reader: Reader,
): Promise<ActionRefusal | undefined> {
  if ('ok' in parsed) return undefined;
  const { object } = spec.incident;
  const target = parsed.action.target(parsed.params);
  if (isMeant(object, target)) return undefined;
  const owners = target.kind === 'Pod' ? await readPodOwners(target, metadata.namespace ?? '', reader) : [];
  if ('ok' in owners) return owners;
  if (owners.some((owner) => isMeant(object, owner))) return undefined;
  const say = `the incident is about ${object.kind} ${object.name}, the fix would change ${target.kind} ${target.name}`;
  return no('WrongTarget', say);
}

const isMeant = (object: Named, { kind, name, uid }: Named): boolean =>
  kind === object.kind && name === object.name && (object.uid === '' || uid === object.uid);

async function readPodOwners(target: Target, namespace: string, reader: Reader): Promise<Named[] | ActionRefusal> {
  const pod = await reader.get<KubeObject>({ kind: 'Pod', namespace, name: target.name });
  return pod?.metadata.uid === target.uid
    ? readOwners(reader, namespace, controllerOf(pod.metadata))
    : targetGone(target);
}

const mostDerivations = 5;
const mostTries = 5;
/**
 * The most tries without a clear answer: a later one may get an answer, for example when an admission webhook is up
 * again.
 */
const mostUnclear = 10;

interface RehearsalDeps extends Deps {
  lock: Lock;
  withRights: WithRights;
}

/** The open questions about a proposal: would the API server accept it, and would we propose it ourselves? */
type Rehearse = (
  fix: Remediation,
  parsed: ParsedAction | ActionRefusal,
  guard: ActionRefusal | undefined,
) => Promise<StatusChange>;

export function createRehearsal(deps: RehearsalDeps): Rehearse {
  const { api, clock, lock, withRights, derive, history, current } = deps;
  const derivations = new Map<string, number>();
  const moves = new Map<string, number>();
  const unclear = new Map<string, number>();

  async function rehearse(fix: Remediation, parsed: ParsedAction | ActionRefusal): Promise<Prepared> {
    if ('ok' in parsed) return parsed;
    const { action, params } = parsed;
    const context = contextOf(fix, api, clock.now());
    const prepare = (): Promise<Prepared> => action.prepare(params, context);
    const first = await prepare();
    if (!first.ok) return first;
    return lock(() =>
      withRights(fix, action.role, async (hand) => {
        const sent = await send({ hand, clock, dryRun: true, prepare, object: () => undefined });
        if (sent.ok) await rehearseNudges(hand, { ...context, blocked: sent.blocked });
        return sent;
      }),
    );
  }

  const forgetTries = ({ metadata: { uid } }: Remediation): void => void (moves.delete(uid), unclear.delete(uid));

  /**
   * A failure that the target's changes explain is retried. A missing account, for example, is not such a change, and
   * is reported.
   */
  function mayComeRight({ metadata: { uid } }: Remediation, error: unknown): boolean {
    if (error instanceof RetryLater) return true;
    if (isUnclear(error)) return countedUp(unclear, uid) < mostUnclear;
    return hasMoved(error) && countedUp(moves, uid) < mostTries;
  }

  async function rehearsed(fix: Remediation, parsed: ParsedAction | ActionRefusal): Promise<Prepared> {
    try {
      const prepared = await rehearse(fix, parsed);
      forgetTries(fix);
      return prepared;
    } catch (error) {
      if (mayComeRight(fix, error)) throw error;
      forgetTries(fix);
      if (!isUnclear(error)) return refusedBy(error, 'the rehearsal');
      if (conditionOf(fix, 'Rehearsed')) throw error; // it is recorded already
      return no(noAnswer, `the API server gave no clear answer; tapfix asks again: ${messageOf(error)}`);
    }
  }

  /** undefined if it could not be read: ask again. */
  async function confirmed(fix: Remediation, config: Config) {
    const { uid } = fix.metadata;
    try {
      const reading = { reader: api, history, config, nowMs: clock.now() };
      const { action, rationale = 'it is no longer there' } = (await derive(subjectOf(fix), reading)) ?? {};
      derivations.delete(uid);
      if (sameValue(action, fix.spec.action)) {
        return condition('Confirmed', true, 'Derived', "the controller's own reading gives the same fix");
      }
      const own = action ? `would propose ${action.type} otherwise` : `would propose nothing: ${rationale}`;
      return condition('Confirmed', false, 'NotDerived', `the controller's own reading ${own}`);
    } catch (error) {
      if (error instanceof RetryLater) return undefined; // it cannot be done right now
      if (countedUp(derivations, uid) < mostDerivations) return undefined;
      derivations.delete(uid);
      return condition('Confirmed', false, 'NotDerived', `the fix could not be confirmed: ${messageOf(error)}`);
    }
  }

  return async (fix, parsed, guard) => {
    const config = current();
    const isJudged = (type: string): boolean => conditionOf(fix, type) !== undefined && !isRehearsalUnclear(fix);
    const prepared = isJudged('Rehearsed')
      ? undefined
      : await rehearsed(fix, guard ?? notAllowed(fix, config) ?? (await wrongTarget(fix, parsed, api)) ?? parsed);
    // In this order: the confirmation must not be older than the preview.
    const own = isJudged('Confirmed') ? undefined : await confirmed(fix, config);
    const word: StatusChange = { conditions: [] };
    if (prepared) word.conditions.push(conditionAbout(prepared));
    if (prepared?.ok) word.preview = preview(prepared, clock.now());
    if (own) word.conditions.push(own);
    return word;
  };
}

function countedUp(counts: Map<string, number>, uid: string): number {
  counts.set(uid, (counts.get(uid) ?? 0) + 1);
  return counts.get(uid)!;
}

const preview = ({ diff, targetHash }: ActionPlan, nowMs: number) => ({ diff, targetHash, at: iso(nowMs) });

const conditionAbout = (prepared: Prepared) =>
  prepared.ok
    ? condition('Rehearsed', true, 'Accepted', 'dry run accepted by the API server')
    : condition('Rehearsed', false, prepared.reason, prepared.say);

function notAllowed({ spec }: Remediation, { actions }: Config): ActionRefusal | undefined {
  const type = spec.action?.type ?? 'nothing';
  if (actions.allow.includes(type)) return undefined;
  return { ok: false, reason: 'NotAllowed', say: `${type} is not allowed by the configuration` };
}
