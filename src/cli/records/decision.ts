import {
  isAllowed,
  isInTime,
  isStillPending,
  type Rule,
  type RuleFacts,
  wasConfirmed,
  wasRehearsed,
} from '../../approvals/rules.ts';
import type { Config } from '../../config/schema.ts';
import { isConflict, isNotFound } from '../../kube/api.ts';
import { type Approval, isProposedByProgram, type Remediation, viewRemediation } from '../../kube/remediation.ts';
import { UserError } from '../../lib/errors.ts';
import { shownHash } from '../../notices/payload.ts';
import { needsApprover, type Session, whoIsAsking } from '../cluster-session.ts';
import { clusterConfig } from '../explain.ts';

/** The person who decides, and the configuration of the cluster as far as that person may read it. */
export interface Decider {
  user: string | undefined;
  config: Config;
  /** The configuration could not be read: what it switches off is not known here, and the controller refuses it. */
  isDefault: boolean;
}

export async function deciderOf(session: Session): Promise<Decider> {
  const user = await whoIsAsking(session);
  const { config, isDefault } = await clusterConfig(session.api, session.installedIn);
  return { user, config, isDefault };
}

/** Somebody who decides with their own Kubernetes identity also answers for what another person proposed. */
const confirmedUnlessByPerson: Rule = (facts) => (isProposedByProgram(facts.fix) ? wasConfirmed(facts) : undefined);

const rulesFor: Readonly<Record<'Approved' | 'Rejected', readonly Rule[]>> = {
  Approved: [isStillPending, isInTime, wasRehearsed, confirmedUnlessByPerson, isAllowed],
  Rejected: [isStillPending, isInTime],
};

type State = keyof typeof rulesFor;

/** Throws the sentence why this cannot be decided now: the same that chat answers. */
export function mustBeDecidable(fix: Remediation, state: State, decider: Decider, session: Session): void {
  const { namespace, name } = fix.metadata;
  if (!fix.spec.action)
    throw new UserError(`${namespace}/${name}: no fix was proposed for this, so there is nothing to decide`);
  const { clock, timeZone } = session;
  const press = {
    channel: 'console',
    by: decider.user ?? '',
    name: '',
    place: { chat: '' },
    message: '',
    data: '',
  } as const;
  const facts: RuleFacts = {
    press,
    payload: { verb: state === 'Approved' ? 'a' : 'r', uid: fix.metadata.uid, shown: shownHash(fix) },
    fix,
    notice: undefined,
    armed: undefined,
    config: decider.config,
    nowMs: clock.now(),
    timeZone,
  };
  const rules = rulesFor[state].filter((rule) => !(decider.isDefault && rule === isAllowed));
  for (const rule of rules) {
    const refusal = rule(facts);
    if (refusal) throw new UserError(`${namespace}/${name}: ${refusal.say}`);
  }
}

/** The state as it is now; refuses when it is not the one that the person saw. */
async function readAgain(shown: Remediation, { api }: Session): Promise<Remediation> {
  const { namespace = '', name, uid } = shown.metadata;
  const found = await api.get<Remediation>({ kind: 'Remediation', namespace, name });
  const now = found && viewRemediation(found);
  if (!now || now.metadata.uid !== uid)
    throw new UserError(`${namespace}/${name} is no longer there; nothing was done`);
  return now;
}

/** A record is counted and seen again all the time: each conflict is looked at, and only a real change ends it. */
const mostTries = 5;

/**
 * Records the decision about exactly what was shown: the record is read once more, and written only if nobody has
 * written it in between.
 */
export async function decide(
  shown: Remediation,
  approval: Approval & { state: State },
  decider: Decider,
  session: Session,
): Promise<void> {
  const { namespace = '', name } = shown.metadata;
  for (let tried = 1; ; tried++) {
    const now = await readAgain(shown, session);
    mustBeDecidable(now, approval.state, decider, session);
    if (approval.state === 'Approved' && previewOf(now) !== previewOf(shown))
      throw new UserError(
        `${namespace}/${name} has changed since this was shown; nothing was done. Look at it again: tapfix show ${namespace}/${name}`,
      );
    try {
      const body = { metadata: { resourceVersion: now.metadata.resourceVersion }, spec: { approval } };
      return void (await session.api.patch<Remediation>({ kind: 'Remediation', namespace, name }, 'merge', body));
    } catch (error) {
      if (isNotFound(error)) throw new UserError(`${namespace}/${name} is no longer there; nothing was done`, 1, error);
      if (!isConflict(error) || tried === mostTries) throw needsApprover(error, 'decide', namespace, decider.user);
    }
  }
}

/** The part of a record that a person approves: the action, and the change it makes. */
const previewOf = (fix: Remediation): string =>
  JSON.stringify([fix.spec.action, fix.status?.preview?.diff, fix.status?.preview?.targetHash, shownHash(fix)]);

/** Changes annotations of a record, if nobody else changed it since it was read. */
export async function annotate(
  fix: Remediation,
  annotations: Record<string, string | null>,
  user: string | undefined,
  session: Session,
): Promise<void> {
  const { namespace = '', name } = fix.metadata;
  const body = { metadata: { annotations } };
  try {
    await session.api.patch<Remediation>({ kind: 'Remediation', namespace, name }, 'merge', body);
  } catch (error) {
    if (isNotFound(error)) throw new UserError(`${namespace}/${name} is no longer there; nothing was done`, 1, error);
    throw needsApprover(error, 'change this', namespace, user);
  }
}
