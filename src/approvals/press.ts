import type { Answer, ChannelName, Interaction, Place, Press } from '../channels/channel.ts';
import type { Approver } from '../config/schema.ts';
import { ApiError } from '../kube/api.ts';
import { isCard, type Notice } from '../kube/notice.ts';
import type { Remediation } from '../kube/remediation.ts';
import { inTime } from '../lib/clock.ts';
import { RetryLater } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { isWatched } from '../config/selection.ts';
import { showsWholeDiff } from '../notices/cards/body.ts';
import { cardContext, type MessageContext } from '../notices/cards/card-context.ts';
import { composeMessage } from '../notices/cards/compose.ts';
import { contextFor } from '../notices/outbox/notice-body.ts';
import { decodePress } from '../notices/payload.ts';
import { asShown } from '../notices/plan/unwatched.ts';
import {
  byWhoMayDecide,
  entryFor,
  type PressFacts,
  type Refusal,
  refusedByRbac,
  refuse,
  type Rule,
  wasWholeDiffShown,
} from './rules.ts';
import type { SubjectAccess } from './subject-access.ts';
import { type Desk, type Request, type VerbResult, verbs } from './verbs.ts';

/** `entry` is the line of the approvers' list that allows it; undefined at the console. */
type Verdict = Refusal | { ok: true; entry: Approver | undefined };

/** The chain: the first refusal wins, and the presser reads it. */
export function authorise(facts: PressFacts, rules: readonly Rule[]): Verdict {
  const { fix } = facts;
  if (!fix) return refuse('Gone', 'This proposal is gone; nothing was done.');
  for (const rule of rules) {
    const refusal = rule({ ...facts, fix });
    if (refusal) return refusal;
  }
  return { ok: true, entry: entryFor({ ...facts, fix }) };
}

export interface ApprovalsDeps extends Desk {
  log: Log;
  fixByUid: (uid: string) => Remediation | undefined;
  noticeAt: (channel: ChannelName, place: Place, message: string) => Notice | undefined;
  noticesWith: (uid: string) => Notice[];
  subjectAccess: SubjectAccess;
  /** For metrics. */
  onDecision?(channel: ChannelName, result: string): void;
}

interface Approvals {
  onPress(press: Press, more?: Pick<Request, 'isOnPage'>): Promise<Answer>;
  /** The same for a written command. */
  handle(request: Request): Promise<Answer>;
  /** Writes one audit line that concerns no Remediation; returns the answer. */
  audit(interaction: Interaction, said: VerbResult): Answer;
}

/** A person waits with a thumb on the phone, and chat vendors wait no longer either. */
const patienceMs = 3_000;
const mostTries = 3;

const notRecorded = (why: string): Refusal =>
  refuse('NotRecorded', `${why}: the decision could not be recorded, press again.`);
/** The decision may have been recorded anyway. */
const unclear = (why: string): Refusal =>
  refuse('NotRecorded', `${why}; if the decision was recorded this message will say so, else press again.`);

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { api, clock, log, current, confirms } = deps;

  async function onPress(press: Press, more: Pick<Request, 'isOnPage'> = {}): Promise<Answer> {
    const payload = decodePress(press.data);
    return payload ? handle({ press, payload, ...more }) : answerOf(audit(press, undefined, unreadable));
  }

  async function handle(request: Request): Promise<Answer> {
    const { press, payload } = request;
    const fix = deps.fixByUid(payload.uid);
    const auditLate = (said: VerbResult): void => void (said.ok && audit(press, fix, said));
    const said = await decideInTime((late) => decide(request, fix, late), auditLate);
    return { ...answerOf(audit(press, fix, said)), ...answered(request, said, fix) };
  }

  /**
   * A question that was shown as an answer is edited when it is answered or has run out: its buttons do nothing any more.
   * While it is open, nobody else can take it away.
   */
  function answered({ press, payload }: Request, said: VerbResult, known: Remediation | undefined): Partial<Answer> {
    const { notice, isOnNotice } = noticeOf(press, payload.uid);
    const isOpen = !said.ok && confirms.armedFor(payload.uid, clock.now()) !== undefined;
    const fix = (said.ok && said.fix) || known;
    if (!['c', 'b'].includes(payload.verb) || !press.ours || isOnNotice || !notice || !fix || isOpen) return {};
    const context = contextOf(notice);
    return { show: { ...composeMessage(asShown([fix], context), context), silent: true }, inPlace: true };
  }

  const contextOf = (notice: Notice): MessageContext =>
    contextFor(notice, { ...deps, config: current(), nowMs: clock.now(), namespace: deps.ownNamespace });

  /**
   * After the timeout nothing more is started. A patch that is under way may still succeed, and the next reading
   * decides.
   */
  async function decideInTime(
    work: (late: AbortSignal) => Promise<VerbResult>,
    onLate: (said: VerbResult) => void,
  ): Promise<VerbResult> {
    const late = unclear('The cluster did not answer in time');
    return inTime({ clock, ms: patienceMs, late }, async (isLate) => {
      const said = await work(isLate).catch(outcomeOf);
      if (isLate.aborted) onLate(said);
      return said;
    });
  }

  async function decide(request: Request, seen: Remediation | undefined, late: AbortSignal): Promise<VerbResult> {
    const verb = verbs[request.payload.verb];
    let allowed: boolean | undefined;
    for (let tried = 0; tried < mostTries && !late.aborted; tried++) {
      const fix = seen && (await fresh(seen));
      const who = authorise(factsOf(request, fix), verb.reads ? verb.rules : byWhoMayDecide);
      if (!who.ok) return who;
      allowed ??= verb.reads ?? (await rbacAllows(who.entry, fix!));
      if (!allowed) return refusedByRbac(who.entry, fix!.metadata.namespace ?? '');
      if (late.aborted) break;
      const facts = factsOf(request, fix); // asking RBAC took a moment
      const verdict = authorise(facts, verb.rules);
      if (!verdict.ok) return verdict;
      const notice = facts.notice!;
      const said = await verb.act(
        { ...request, fix: fix!, notice, wasDiffShown: wasShown(request, fix!, notice), late },
        deps,
      );
      if (said) return said;
    }
    return notRecorded('Too many changes at once');
  }

  /** The live object, never the watch's copy: two people may press at the same time. */
  async function fresh(seen: Remediation): Promise<Remediation | undefined> {
    const { namespace, name, uid } = seen.metadata;
    const live = await api.get<Remediation>({ kind: 'Remediation', ...(namespace && { namespace }), name });
    return live?.metadata.uid === uid ? live : undefined;
  }

  function factsOf({ press, payload }: Request, fix: Remediation | undefined): PressFacts {
    const nowMs = clock.now();
    const armed = confirms.armedFor(payload.uid, nowMs);
    const { notice } = noticeOf(press, payload.uid);
    const config = current();
    const isUnwatched = fix !== undefined && !isWatched(config, fix.metadata.namespace ?? '', deps.ownNamespace);
    return { press, payload, fix, notice, armed, isUnwatched, config, nowMs, timeZone: deps.timeZone };
  }

  /** Whether the person who pressed Approve had the whole diff before them. Commands and pages do not show it. */
  function wasShown({ press, command, isOnPage }: Request, fix: Remediation, notice: Notice): boolean {
    const { form } = notice.spec;
    const members = notice.spec.members.flatMap(({ uid }) =>
      uid === fix.metadata.uid ? fix : (deps.fixByUid(uid) ?? []),
    );
    return wasWholeDiffShown({
      members,
      form,
      isOnNotice: command === undefined && !isOnPage && noticeOf(press, fix.metadata.uid).isOnNotice,
      isDiffOnCard: showsWholeDiff(fix, cardContext(fix, contextOf(notice))),
    });
  }

  /** A message shown as an answer counts like the card, if that is in the same chat. A press on a reminder is about that. */
  function noticeOf(
    { channel, place, message, ours }: Press,
    uid: string,
  ): { notice: Notice | undefined; isOnNotice: boolean } {
    const own = deps.noticeAt(channel, place, message);
    const isAbout = ({ spec }: Notice): boolean => spec.members.some((member) => member.uid === uid);
    if (!ours || (own && isAbout(own))) return { notice: own, isOnNotice: true };
    const here = deps.noticesWith(uid).filter(({ spec }) => spec.channel === channel && spec.chat === place.chat);
    return { notice: here.find(isCard) ?? here[0], isOnNotice: false };
  }

  const rbacAllows = async (entry: Approver | undefined, fix: Remediation): Promise<boolean> =>
    entry?.kubernetesUser === undefined || deps.subjectAccess(entry, fix.metadata.namespace ?? '');

  function audit(press: Interaction, fix: Remediation | undefined, said: VerbResult): VerbResult {
    deps.onDecision?.(press.channel, said.ok ? said.decision : said.reason);
    // A decision at the console is made as a Kubernetes user: the controller writes the audit line for those.
    if (press.channel === 'console' && said.ok && ['Approved', 'Rejected'].includes(said.decision)) return said;
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
    return said;
  }
  return { onPress, handle, audit: (interaction, said) => answerOf(audit(interaction, undefined, said)) };
}

const answerOf = (said: VerbResult): Answer => ({
  say: said.say,
  alert: !said.ok,
  ...(said.ok && said.show && { show: said.show }),
  ...(said.ok && said.onUnseen && { onUnseen: said.onUnseen }),
});

const unreadable = refuse('Unreadable', 'tapfix does not know this button; nothing was done.');

function outcomeOf(error: unknown): Refusal {
  if (error instanceof RetryLater)
    return refuse('NotRecorded', `${error.message}; nothing was recorded. Press again in a few seconds.`);
  return error instanceof ApiError
    ? notRecorded(`The cluster said ${error.reason}`)
    : unclear('The cluster could not be reached');
}
