import { isCleared, phaseOf, type Remediation } from '../kube/remediation.ts';
import { spokenDuration } from '../lib/duration.ts';
import { line } from '../lib/plain.ts';
import { redact } from '../lib/redact.ts';
import { SignalOutcome } from '../signals/signal.ts';
import type { SeenClass } from '../incidents/incident.ts';
import type { Case, Findings, Seen } from './findings.ts';

/* Pure. Why there was, or was not, a message: one sentence, the first that applies. */

/** What became of a signal, and where to look. */
export function whyDropped(outcome: SignalOutcome, { signal }: Pick<Seen, 'signal'>): string {
  const why: Partial<Record<SignalOutcome, string>> = {
    [SignalOutcome.namespaceNotSelected]: `namespace ${signal.namespace} is not selected (namespaces.include and exclude)`,
    [SignalOutcome.classDisabled]: `classes.${signal.class}.enabled is false`,
    [SignalOutcome.ignoredByRule]: 'a rule of ignore matches it',
    [SignalOutcome.muted]: 'somebody muted it for a while (ConfigMap tapfix-mutes)',
    [SignalOutcome.ownerUnknown]: 'nobody knows whose it is',
    [SignalOutcome.ignoredByAnnotation]: 'it, or its namespace, is annotated tapfix.dev/ignore',
    [SignalOutcome.namespaceTerminating]: 'the namespace of its records is being deleted, or is not there',
  };
  return why[outcome] ?? outcome;
}

/** Something from the cluster, as part of a sentence. */
export const clause = (text: string, longest = 160): string => line(redact(text), longest).replace(/\.$/, '');

const holderOf = (fixes: readonly Remediation[]): Remediation | undefined => fixes.find((fix) => !isCleared(fix));

type Basis = Pick<Findings, 'seen' | 'unread' | 'isInstalled'>;

export function verdictOf(one: Case, { seen, ...basis }: Basis): string {
  const { incident, live, trueNow, symptomOf, whyNot, fixes } = one;
  const holder = holderOf(fixes);
  if (holder) return holdsIt(holder, live.healthy);
  if (!incident) return notSeen(one, seen);
  const [worst] = incident.seen;
  if (symptomOf !== undefined) return `Nobody is told of ${worst.class}: ${symptomOf} explains it, and that is told.`;
  if (whyNot) return `Nobody is told: ${whyDropped(whyNot, seen[0]!)}.`;
  const [as] = trueNow;
  if (as) return isTrue(as, basis);
  if (live.gone) return 'It is gone, and what is gone is not told.';
  const names = incident.seen.map((each) => each.class).join(', ');
  if (live.healthy)
    return `${names} was seen, but it is healthy by a fresh reading: of what healed by itself nobody is told.`;
  if (!worst.readable && live.troubles.length === 0)
    return `${names} was seen, which only events tell of: it takes a second sighting, lately.`;
  return `${names} was seen, but a fresh reading does not confirm it: it is ${clause(live.why) || 'not healthy'}.`;
}

function isTrue(as: SeenClass, { unread, isInstalled }: Omit<Basis, 'seen'>): string {
  const what = as.readable ? `It is broken (${as.class})` : `${as.class} is seen`;
  if (!isInstalled) return `${what}, but this cluster knows no Remediations: tapfix is not installed in it.`;
  if (unread.includes('Remediation'))
    return `${what}; whether it was told cannot be said, for Remediations are forbidden to you.`;
  return `${what}, and nobody was told yet: the watcher tells it ${patience(as.forMs)} it first sees it, if it is so then.`;
}

const patience = (forMs: number): string => (forMs === 0 ? 'as soon as' : `${spokenDuration(forMs)} after`);

function holdsIt(fix: Remediation, isHealthy: boolean): string {
  const name = `${fix.metadata.namespace}/${fix.metadata.name}`;
  const phase = phaseOf(fix) || 'new';
  const end = isHealthy ? 'it is healthy now, and over when that has held' : 'nothing new is said until it is over';
  return `It is told: Remediation ${name} (${phase}) holds it; ${end}.`;
}

function notSeen({ live, fixes }: Case, seen: readonly Seen[]): string {
  const [dropped] = seen.filter(({ judged }) => judged.outcome !== SignalOutcome.kept);
  if (dropped)
    return `It is seen (${dropped.signal.class}), and dropped on purpose: ${whyDropped(dropped.judged.outcome, dropped)}.`;
  if (live.gone) return 'It is gone, and there is nothing to tell.';
  const before = fixes[0] ? ` The last that was told, ${fixes[0].metadata.name}, is over.` : '';
  if (live.troubles.length > 0)
    return `A fresh reading finds ${live.troubles.join(', ')}, but no event and no status says so now: tapfix looks where it sees something.${before}`;
  if (live.healthy) return `Nothing is wrong with it now, so there is nothing to tell.${before}`;
  return `It is not healthy (${clause(live.why)}), but nothing that tapfix knows as a failure is seen of it.${before}`;
}
