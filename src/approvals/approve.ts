import type { Prepared } from '../actions/action.ts';
import { parseAction } from '../actions/table.ts';
import type { Answer, ChannelName, Place, Press } from '../channels/channel.ts';
import type { Approver, Config } from '../config/schema.ts';
import type { Api } from '../kube/api.ts';
import { ApiError, hasCode, isConflict, isNotFound } from '../kube/api.ts';
import type { Notice } from '../kube/notice.ts';
import type { Approval, Remediation } from '../kube/remediation.ts';
import type { Clock } from '../lib/clock.ts';
import { iso } from '../lib/clock.ts';
import { messageOf, RetryLater } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { authorise, hasChanged, refuse } from './authorise.ts';
import type { Refusal } from './authorise.ts';
import type { Confirms } from './confirms.ts';
import { nameOf } from '../notices/people.ts';
import type { Payload } from './press.ts';
import { decodePress } from './press.ts';
import type { SubjectAccess } from './subject-access.ts';

export interface ApprovalsDeps {
  api: Pick<Api, 'get' | 'patch'>;
  clock: Clock;
  log: Log;
  current: () => Config;
  fixByUid: (uid: string) => Remediation | undefined;
  noticeAt: (channel: ChannelName, place: Place, message: string) => Notice | undefined;
  confirms: Confirms;
  subjectAccess: SubjectAccess;
  /** The target as it is now: what the fix would do to it, or why it would not. */
  prepare(fix: Remediation): Promise<Prepared>;
  /** For counting. */
  onDecision?(channel: ChannelName, result: string): void;
  timeZone: string;
}

export interface Approvals {
  onPress(press: Press): Promise<Answer>;
}

/** A person waits with a thumb on the phone; chat vendors wait no longer either. */
const patienceMs = 3_000;
const confirmMs = 30_000;
const mostTries = 3;

type Said = Refusal | { ok: true; decision: 'Approved' | 'Rejected' | 'Asked' | 'Back'; say: string };
const notRecorded = (why: string): Refusal =>
  refuse('NotRecorded', `${why}: the decision could not be recorded, press again.`);
/** It may have arrived all the same. */
const unclear = (why: string): Refusal =>
  refuse('NotRecorded', `${why}; if the decision was recorded this message will say so, else press again.`);

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { api, clock, log, current, confirms } = deps;

  async function onPress(press: Press): Promise<Answer> {
    const payload = decodePress(press.data);
    const fix = payload && deps.fixByUid(payload.uid);
    const auditLate = (said: Said): void => void (said.ok && audit(press, fix, said));
    const said = payload ? await inTime((late) => decide(press, payload, fix, late), auditLate) : unreadable;
    audit(press, fix, said);
    return { say: said.say, alert: !said.ok };
  }

  /** After the patience nothing more is started; a patch that is under way may still land, and the next reading decides. */
  async function inTime(work: (late: AbortSignal) => Promise<Said>, onLate: (said: Said) => void): Promise<Said> {
    const late = new AbortController();
    const answered = new AbortController();
    const timeout = clock.sleep(patienceMs, answered.signal).then((): Said => {
      late.abort();
      return unclear('The cluster did not answer in time');
    });
    const answer = work(late.signal).catch(outcomeOf);
    const said = await Promise.race([answer, timeout]);
    answered.abort();
    if (late.signal.aborted) void answer.then(onLate);
    return said;
  }

  async function decide(
    press: Press,
    payload: Payload,
    seen: Remediation | undefined,
    late: AbortSignal,
  ): Promise<Said> {
    let allowed: boolean | undefined;
    for (let tried = 0; tried < mostTries && !late.aborted; tried++) {
      const fix = seen && (await fresh(seen));
      const verdict = judge(press, payload, fix);
      if (!verdict.ok) return verdict;
      const entry = verdict.entry;
      allowed ??= await rbacAllows(entry, fix!);
      if (!allowed)
        return refuse(
          'RefusedByRbac',
          `Kubernetes does not let ${entry?.kubernetesUser} approve in ${fix!.metadata.namespace}.`,
        );
      if (late.aborted) break;
      if (verdict.do === 'back') return back(fix!);
      const changed = verdict.do === 'reject' ? undefined : await notAsShown(fix!);
      if (changed) return changed;
      if (late.aborted) break; // the presser has had an answer: nothing is begun after it
      if (verdict.do === 'ask') return ask(press, fix!);
      const said = await record(press, fix!, verdict.do === 'approve' ? 'Approved' : 'Rejected');
      if (said) return said;
    }
    return notRecorded('Too many changes at once');
  }

  /** The live object, never the watch's memory: two people may press at the same time. */
  async function fresh(seen: Remediation): Promise<Remediation | undefined> {
    const { namespace, name, uid } = seen.metadata;
    const live = await api.get<Remediation>({ kind: 'Remediation', ...(namespace && { namespace }), name });
    return live?.metadata.uid === uid ? live : undefined;
  }

  function judge(press: Press, payload: Payload, fix: Remediation | undefined) {
    const nowMs = clock.now();
    const notice = deps.noticeAt(press.channel, press.place, press.message);
    const armed = confirms.armedFor(payload.uid, nowMs);
    return authorise({ press, payload, fix, notice, armed, config: current(), nowMs, timeZone: deps.timeZone });
  }

  /** People approve what they saw: the live target is compared here, and once more when the fix is applied. */
  async function notAsShown(fix: Remediation): Promise<Refusal | undefined> {
    const prepared = await deps.prepare(fix);
    if (!prepared.ok) return refuse('NotAsShown', `${prepared.say} Nothing was done.`);
    if (prepared.targetHash === fix.status?.preview?.targetHash) return undefined;
    return hasChanged(fix);
  }

  const rbacAllows = async (entry: Approver | undefined, fix: Remediation): Promise<boolean> =>
    entry?.kubernetesUser === undefined || deps.subjectAccess(entry, fix.metadata.namespace ?? '');

  function ask(press: Press, fix: Remediation): Said {
    confirms.arm(fix.metadata.uid, press.by, nameOf(current(), press.by), clock.now() + confirmMs);
    return { ok: true, decision: 'Asked', say: `Really ${consequenceOf(fix)}? You have 30 s to say yes.` };
  }

  function back(fix: Remediation): Said {
    confirms.disarm(fix.metadata.uid);
    return { ok: true, decision: 'Back', say: 'Nothing was done.' };
  }

  /** undefined: somebody changed it meanwhile, so it has to be judged again. */
  async function record(press: Press, fix: Remediation, state: 'Approved' | 'Rejected'): Promise<Said | undefined> {
    const { namespace, name, resourceVersion } = fix.metadata;
    const approval: Approval = { state, by: press.by, at: iso(clock.now()), via: press.channel };
    try {
      await api.patch<Remediation>({ kind: 'Remediation', ...(namespace && { namespace }), name }, 'merge', {
        metadata: { resourceVersion },
        spec: { approval },
      });
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return undefined;
      if (hasCode(error, 403) || hasCode(error, 422))
        return refuse('RefusedByCluster', `The cluster refused it: ${messageOf(error)}`.slice(0, 190));
      throw error;
    }
    // The question is left to run out: a decided card no longer shows it, and asking for it anew would edit it twice.
    return {
      ok: true,
      decision: state,
      say: state === 'Approved' ? 'Approved; it starts now.' : 'Rejected; nothing is changed.',
    };
  }

  function audit(press: Press, fix: Remediation | undefined, said: Said): void {
    deps.onDecision?.(press.channel, said.ok ? said.decision : said.reason);
    // A decision at the console is in a Kubernetes user's own name: the controller writes those down.
    if (press.channel === 'console' && said.ok && ['Approved', 'Rejected'].includes(said.decision)) return;
    log.info(
      {
        audit: true,
        decision: said.ok ? said.decision : 'Refused',
        by: press.by,
        name: press.name,
        channel: press.channel,
        namespace: fix?.metadata.namespace,
        fix: fix?.metadata.name,
        action: fix?.spec.action?.type,
        reason: said.ok ? undefined : said.reason,
      },
      'decision',
    );
  }
  return { onPress };
}

const unreadable = refuse('Unreadable', 'tapfix does not know this button; nothing was done.');

function outcomeOf(error: unknown): Refusal {
  if (error instanceof RetryLater)
    return refuse('NotRecorded', `${error.message}; nothing was recorded. Press again in a few seconds.`);
  return error instanceof ApiError
    ? notRecorded(`The cluster said ${error.reason}`)
    : unclear('The cluster could not be reached');
}

function consequenceOf(fix: Remediation): string {
  try {
    const { action, params } = parseAction(fix.spec.action!);
    return action.consequence(params);
  } catch {
    return 'do this';
  }
}
