import type { LiveHealth } from '../health/live.ts';
import type { Incident, SeenClass } from '../incidents/incident.ts';
import type { Judged } from '../incidents/judge.ts';
import type { Root } from '../incidents/owner.ts';
import type { Notice } from '../kube/notice.ts';
import type { Remediation, RemediationSpec } from '../kube/remediation.ts';
import type { Kind } from '../kube/resources.ts';
import type { Sighting } from '../signals/survey.ts';
import type { SignalOutcome } from '../signals/signal.ts';
import type { Target } from './target.ts';

/** A sighting that has to do with what was asked, and what the filter says of it. */
export interface Seen extends Sighting {
  judged: Judged;
}

/** One incident that it is, or would be, part of. */
export interface Case {
  key: string;
  object: Root;
  /** What all that was seen and kept amounts to; none when nothing was. */
  incident?: Incident;
  live: LiveHealth;
  /** Of the classes that were seen those that a fresh reading confirms, the most specific first. */
  trueNow: readonly SeenClass[];
  /** Key of the open shared cause that explains it. */
  symptomOf?: string;
  /** What the live objects say against telling anybody. */
  whyNot?: SignalOutcome;
  /** What would be recorded if it was told now. */
  draft?: RemediationSpec;
  /** Of this key, newest first. */
  fixes: readonly Remediation[];
}

export interface Findings {
  target: Target;
  /** The workload that it belongs to. */
  root: Root;
  /** It is not there any more; whose it was its name tells. */
  isGone: boolean;
  seen: readonly Seen[];
  /** The workload's own first, then shared causes. */
  cases: readonly [Case, ...Case[]];
  notices: readonly Notice[];
  /** Kinds that may not be listed by whoever asks. */
  unread: readonly Kind[];
  /** The cluster knows tapfix's resources. */
  isInstalled: boolean;
}
