import { parseAction } from '../../actions/table.ts';
import { healthyTimeIn, noFix, rationaleParts, type Remediation } from '../../kube/remediation.ts';
import { shortImage, splitImage } from '../../lib/image.ts';
import { redact } from '../../lib/redact.ts';
import { middleCut } from '../../lib/text.ts';
import { shortName } from './subject.ts';
import type { Times } from './times.ts';

/** One fix in the forms that a card needs at each point of its life. */
interface FixWords {
  /** On the button, where it is the only one of its kind: "Roll back to 1.41". */
  button: string;
  /** On a numbered button among others, and in the line of a list: "Roll back". */
  short: string;
  /** After "Fix: ", "about to ", and "Yes, " if there is nothing else for that. */
  does: string;
  yes?: string;
  /** While it is applied, after the name of its target. */
  doing: string;
  /** Once it is applied. */
  done: string;
  /** "10 min after the rollback" */
  noun: string;
}

type Params = Readonly<Record<string, unknown>>;

const words: Readonly<Record<string, (params: Params, fix: Remediation) => FixWords>> = {
  RolloutUndo: ({ toRevision }, fix) => {
    const target = imageTarget(fix) ?? `revision ${String(toRevision)}`;
    return {
      button: `Roll back to ${target}`,
      short: 'Roll back',
      does: `roll back to ${target}`,
      doing: `rolling back to ${target}`,
      done: 'rolled back',
      noun: 'rollback',
    };
  },
  PatchDeploymentImage: ({ image }) => {
    const target = middleCut(shortImage(redact(String(image))), 28);
    return {
      button: `Use image ${target}`,
      short: 'Use image',
      does: `use image ${target}`,
      doing: `changing its image to ${target}`,
      done: `image changed to ${target}`,
      noun: 'image change',
    };
  },
  ScaleDeployment: ({ replicas }) => ({
    button: `Scale to ${String(replicas)}`,
    short: 'Scale',
    does: `scale to ${String(replicas)}`,
    doing: `scaling to ${String(replicas)}`,
    done: `scaled to ${String(replicas)}`,
    noun: 'scaling',
  }),
  RolloutRestart: () => ({
    button: 'Restart pods',
    short: 'Restart pods',
    does: 'restart its pods',
    doing: 'restarting its pods',
    done: 'pods restarted',
    noun: 'restart',
  }),
  DeletePod: ({ name }) => {
    const pod = shortName(String(name));
    return {
      button: 'Delete pod',
      short: 'Delete pod',
      does: `delete pod ${pod}`,
      doing: `deleting pod ${pod}`,
      done: `pod ${pod} deleted`,
      noun: 'deletion of the pod',
    };
  },
  DeleteResourceQuota: ({ name }) => ({
    button: 'Delete quota',
    short: 'Delete quota',
    does: 'delete it',
    yes: `delete ${shortName(String(name))}`,
    doing: 'being deleted',
    done: 'deleted',
    noun: 'deletion',
  }),
};

/** General words, for an action that we do not know because a newer tapfix wrote it. */
const unknownWords: FixWords = {
  button: 'Approve',
  short: 'Approve',
  does: 'apply it',
  doing: 'applying the fix',
  done: 'fix applied',
  noun: 'fix',
};

export function fixWords(fix: Remediation): FixWords {
  const spec = fix.spec.action;
  try {
    const { action, params } = parseAction(spec!);
    return words[action.type]?.(params as Params, fix) ?? unknownWords;
  } catch {
    return unknownWords;
  }
}

const imageLine = /^\S+ image {2}(\S+) → (\S+)$/;

/** The lines of the rehearsed diff, without secrets. */
const linesOfDiff = ({ status }: Remediation): string[] =>
  redact(status?.preview?.diff ?? '')
    .trimEnd()
    .split('\n')
    .filter(Boolean);

/** "1.41": the one tag that an undo brings back, if it changes images within their repositories. */
function imageTarget(fix: Remediation): string | undefined {
  const steps = linesOfDiff(fix).flatMap((line) => {
    const [, from = '', to = ''] = imageLine.exec(line) ?? [];
    return to ? [{ from: splitImage(from), to: splitImage(to) }] : [];
  });
  const tags = new Set(steps.map(({ from, to }) => (from.repository === to.repository ? to.tag : '')));
  const [tag = ''] = tags;
  return tags.size === 1 && tag !== '' ? middleCut(tag, 20) : undefined;
}

const whole = (lines: readonly string[], isMore: boolean): string[] => (isMore ? [...lines] : []);

/** The part of the diff that the Fix line does not say, by the type of the action. */
const besideFix: Readonly<Record<string, (fix: Remediation, lines: readonly string[]) => string[]>> = {
  RolloutUndo: (fix, lines) => whole(lines, lines.length > 1 || imageTarget(fix) === undefined),
  PatchDeploymentImage(_, lines) {
    const [, from = '', to = ''] = imageLine.exec(lines[0] ?? '') ?? [];
    return whole(lines, splitImage(from).repository !== splitImage(to).repository);
  },
  ScaleDeployment: () => [],
  // The Fix line has the pod; the place of the pod does not change what is done.
  DeletePod: () => [],
  // The headline has the quota, and the cause has the one limit that is in the way.
  DeleteResourceQuota(_, lines) {
    const limits = lines.filter((line) => line.startsWith('  ')).map((line) => line.trim().replace(/ {2,}/, ' '));
    return whole([limits.join(', ')], limits.length > 1);
  },
};

/** The lines of the diff that the card must show besides its Fix line, for people to see what they approve. */
export function diffBesideFix(fix: Remediation): string[] {
  const lines = linesOfDiff(fix);
  return besideFix[fix.spec.action?.type ?? '']?.(fix, lines) ?? lines;
}

/** When the quota was created, from what was recorded as changed. */
function createdAt({ spec }: Remediation, times: Times): string {
  const [created] = spec.context.changed.filter((text) => /^\S+ ResourceQuota created/.test(text));
  return created ? ` (created ${times.minute(created.slice(0, created.indexOf(' ')))})` : '';
}

/** The end of the Fix line where there is room for it, by the type of the action. */
const asides: Readonly<Record<string, (fix: Remediation, times: Times) => string>> = {
  DeleteResourceQuota: createdAt,
  DeletePod: () => ', a new one follows',
  RolloutUndo: (fix) => (healthyTimeIn(fix) === undefined ? '' : `, healthy ${redact(healthyTimeIn(fix)!)}`),
};

/** The third line of a card, in several lengths, the longest first. */
export function fixLines(fix: Remediation, times: Times): string[] {
  const { action } = fix.spec;
  if (!action) {
    const [reason, ...others] = whyNoFix(fix, times);
    return [...(reason && others.length === 0 ? [`No one-tap fix: ${reason}`] : []), 'No one-tap fix'];
  }
  const fixed = fixWords(fix);
  if (fixed === unknownWords) return [`Fix: ${String(action.type)} (unknown to this version)`];
  const more = asides[action.type]?.(fix, times) ?? '';
  return [`Fix: ${fixed.does}${more}`, `Fix: ${fixed.does}`];
}

/** The reasons why there is no fix; none if tapfix simply knows none. */
export const whyNoFix = (fix: Remediation, times: Times): string[] =>
  times
    .localised(rationaleParts(fix).why)
    .split('; ')
    .filter((reason) => reason !== '' && reason !== noFix);
