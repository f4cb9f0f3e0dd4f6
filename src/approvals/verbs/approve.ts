import { parseAction } from '../../actions/table.ts';
import type { Approval, Remediation } from '../../kube/remediation.ts';
import { iso } from '../../lib/clock.ts';
import { nameOf } from '../../notices/people.ts';
import { record } from '../record.ts';
import * as must from '../rules.ts';
import type { Refusal } from '../rules.ts';
import type { Case, Desk, Said, Verb } from '../verb.ts';

const confirmMs = 30_000;

const rules = [
  ...must.byWhoMayDecide,
  must.isStillPending,
  must.isInTime,
  must.wasRehearsed,
  must.wasConfirmed,
  must.isAllowed,
  must.isAsShown,
  must.wasAsked,
];

export const approve: Verb = {
  rules,
  act: (one, desk) => afterComparing(one, desk, asksOnceMore(one.fix, desk) ? ask : approved),
};

/** "Yes, delete...": by who was asked. */
export const confirm: Verb = { rules, act: (one, desk) => afterComparing(one, desk, approved) };

const asksOnceMore = ({ spec }: Remediation, { current }: Desk): boolean =>
  current().approval.confirm.includes(spec.action?.type ?? '');

type Act = (one: Case, desk: Desk) => Promise<Said | undefined>;

/** People approve what they saw: the live target is compared here, and once more when the fix is applied. */
async function afterComparing(one: Case, desk: Desk, act: Act): Promise<Said | undefined> {
  const changed = await notAsShown(one.fix, desk);
  if (changed) return changed;
  return one.late.aborted ? undefined : act(one, desk);
}

async function notAsShown(fix: Remediation, { prepare }: Desk): Promise<Refusal | undefined> {
  const prepared = await prepare(fix);
  if (!prepared.ok) return must.refuse('NotAsShown', `${prepared.say} Nothing was done.`);
  return prepared.targetHash === fix.status?.preview?.targetHash ? undefined : must.hasChanged(fix);
}

async function ask({ press, fix, notice }: Case, { confirms, current, clock }: Desk): Promise<Said> {
  const { by, channel } = press;
  const untilMs = clock.now() + confirmMs;
  confirms.arm(fix.metadata.uid, { by, name: nameOf(current(), by), untilMs, channel, notice: notice.metadata.name });
  return { ok: true, decision: 'Asked', say: `Really ${consequenceOf(fix)}? You have 30 s to say yes.` };
}

function consequenceOf(fix: Remediation): string {
  try {
    const { action, params } = parseAction(fix.spec.action!);
    return action.consequence(params);
  } catch {
    return 'do this';
  }
}

/** The question is left to run out: a decided card no longer shows it, and asking for it anew would edit it twice. */
async function approved({ press, fix }: Case, desk: Desk): Promise<Said | undefined> {
  const approval: Approval = { state: 'Approved', by: press.by, at: iso(desk.clock.now()), via: press.channel };
  return record(fix, { spec: { approval } }, desk, {
    ok: true,
    decision: 'Approved',
    say: 'Approved; it starts now.',
  });
}
