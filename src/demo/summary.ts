import { phaseOf, type Remediation } from '../kube/remediation.ts';
import { spokenDuration } from '../lib/duration.ts';
import { counted } from '../lib/text.ts';
import { endedAtMs, type PlayedAct } from './play.ts';

export interface SummaryFacts {
  scenes: readonly PlayedAct[];
  /** How many of tapfix's RoleBindings are still there. */
  rightsLeft: number;
  at(ms: number): string;
}

/** Every fix ended well: an approved one recovered, a rejected one changed nothing. */
export const wentWell = (scenes: readonly PlayedAct[]): boolean =>
  scenes.every(({ fix }) => fix !== undefined && ['Recovered', 'Rejected'].includes(phaseOf(fix)));

export const allRecovered = (scenes: readonly PlayedAct[]): boolean =>
  scenes.every(({ fix }) => fix !== undefined && phaseOf(fix) === 'Recovered');

/** Pure. Five lines that say what happened. */
export function summary({ scenes, rightsLeft, at }: SummaryFacts): string[] {
  const isShort = scenes.length > 1;
  const lines = scenes.flatMap((scene) => (isShort ? shortly(scene, at) : inFull(scene, at)));
  const rights =
    rightsLeft === 0
      ? 'of the rights that were made for the fixes none is left'
      : `${counted(rightsLeft, 'RoleBinding')} that ${rightsLeft === 1 ? 'was' : 'were'} made for the fixes ${rightsLeft === 1 ? 'is' : 'are'} still there`;
  return [...lines, `${at(lastMs(scenes))}  ${rights}`];
}

const lastMs = (scenes: readonly PlayedAct[]): number => {
  const { fix, shownAtMs, brokeAtMs } = scenes.at(-1)!;
  const endedMs = fix ? endedAtMs(fix) : Number.NaN;
  return Number.isFinite(endedMs) ? endedMs : (shownAtMs ?? brokeAtMs);
};

function shortly({ act, brokeAtMs, shownAtMs, fix }: PlayedAct, at: (ms: number) => string): string[] {
  if (!fix || shownAtMs === undefined) return [`${at(brokeAtMs)}  ${act.trouble}; tapfix posted nothing`];
  return [
    `${at(brokeAtMs)}  ${act.trouble}; the card came ${spokenDuration(shownAtMs - brokeAtMs)} later`,
    `${at(endedAtMs(fix))}  ${[decided(fix), ended(fix)].filter(Boolean).join(', ')}`,
  ];
}

function inFull({ act, brokeAtMs, shownAtMs, fix }: PlayedAct, at: (ms: number) => string): string[] {
  const broke = `${at(brokeAtMs)}  ${act.trouble}`;
  if (!fix || shownAtMs === undefined) return [broke, `${at(brokeAtMs)}  tapfix posted nothing`];
  const decidedAtMs = Date.parse(fix.spec.approval.at ?? '');
  return [
    broke,
    `${at(shownAtMs)}  the card was there, ${spokenDuration(shownAtMs - brokeAtMs)} later`,
    ...(Number.isFinite(decidedAtMs) ? [`${at(decidedAtMs)}  ${decided(fix)}`] : []),
    `${at(endedAtMs(fix))}  ${ended(fix)}`,
  ];
}

const decided = ({ spec: { approval, action } }: Remediation): string =>
  approval.state === 'Pending' ? '' : `${action?.type} ${approval.state.toLowerCase()} by ${approval.by ?? 'somebody'}`;

function ended(fix: Remediation): string {
  const tookMs = endedAtMs(fix) - Date.parse(fix.status?.execution?.appliedAt ?? '');
  switch (phaseOf(fix)) {
    case 'Recovered':
      return `recovered in ${spokenDuration(tookMs)}`;
    case 'Rejected':
      return 'nothing was changed';
    case '':
    case 'Proposed':
    case 'Noticed':
      return 'left as it was';
    default:
      return `it ended as ${phaseOf(fix)}`;
  }
}
