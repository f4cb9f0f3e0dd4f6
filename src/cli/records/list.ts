import { stringify } from 'yaml';
import type { KubeObject } from '../../kube/api.ts';
import { isBroken, phaseOf, type Remediation, severityOf, shortIdOf, whoIsOnIt } from '../../kube/remediation.ts';
import { inOrder, isSettled, shownPhase } from '../../notices/cards/head.ts';
import { readiness } from '../../notices/cards/subject.ts';
import type { ClusterOptions, Session } from '../cluster-session.ts';
import { type Column, type Paint, tableLines } from './columns.ts';
import { readRecords } from './find-record.ts';

export const formats = ['wide', 'json', 'yaml', 'name'] as const;
export type Format = (typeof formats)[number];

export interface ListOptions extends ClusterOptions {
  allNamespaces: boolean;
  /** Only what still needs somebody or is being fixed. */
  open: boolean;
  output?: Format;
}

/** `tapfix list`: what was noticed and proposed, what needs somebody first. */
export async function runList({ allNamespaces, open, output }: ListOptions, session: Session): Promise<number> {
  const { io, namespace, terminal, clock } = session;
  const all = inOrder(await readRecords(session, allNamespaces ? undefined : namespace));
  const shown = open ? all.filter((fix) => !isSettled(fix)) : all;
  if (output === 'json' || output === 'yaml') {
    io.print(asText({ apiVersion: 'v1', kind: 'List', metadata: {}, items: shown }, output));
    return 0;
  }
  if (output === 'name') {
    if (shown.length > 0) io.print(shown.map(nameLine).join('\n'));
    return 0;
  }
  if (shown.length === 0) {
    const where = allNamespaces ? 'any namespace' : `namespace ${namespace}`;
    io.complain(`Nothing is ${open ? 'open' : 'recorded'} in ${where}.${allNamespaces ? '' : ' -A looks everywhere.'}`);
    return 0;
  }
  const columns = columnsFor({ nowMs: clock.now(), allNamespaces, isWide: output === 'wide' });
  io.print(tableLines(shown, columns, terminal).join('\n'));
  return 0;
}

export const nameLine = ({ metadata }: KubeObject): string => `remediation.tapfix.dev/${metadata.name}`;

/** The object as kubectl prints it, for programs: it is not reworded. */
export const asText = (object: object, format: 'json' | 'yaml'): string =>
  format === 'json'
    ? JSON.stringify(object, null, 2)
    : stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();

const severityPaint: Readonly<Record<string, Paint>> = { critical: 'red', warning: 'yellow' };

function phasePaint(fix: Remediation): Paint | undefined {
  if (shownPhase(fix) === 'Recovered') return 'green';
  if (!isBroken(fix)) return 'dim';
  return ['Proposed', 'Failed', 'Expired'].includes(shownPhase(fix)) ? 'red' : 'yellow';
}

interface Look {
  nowMs: number;
  allNamespaces: boolean;
  isWide: boolean;
}

function columnsFor({ nowMs, allNamespaces, isWide }: Look): Column<Remediation>[] {
  const objectOf = ({ spec }: Remediation): string => `${spec.incident.object.kind}/${spec.incident.object.name}`;
  return [
    ...(allNamespaces
      ? [{ title: 'NAMESPACE', rank: 0, cell: ({ metadata }: Remediation) => metadata.namespace ?? '' }]
      : []),
    // The end of a name is the id, by which the record is found too.
    { title: 'NAME', rank: 0, cell: ({ metadata }) => metadata.name, ending: /-[0-9a-f]{6}-\d+$/ },
    ...(isWide ? [{ title: 'ID', rank: 5, cell: shortIdOf }] : []),
    { title: 'CLASS', rank: 3, cell: ({ spec }) => spec.incident.class },
    {
      title: 'SEVERITY',
      rank: 4,
      cell: severityOf,
      paint: (fix) => (isBroken(fix) ? severityPaint[severityOf(fix)] : undefined),
    },
    { title: 'TARGET', rank: 6, cell: objectOf },
    { title: 'ACTION', rank: 5, cell: ({ spec }) => spec.action?.type ?? '' },
    { title: 'PHASE', rank: 0, cell: (fix) => phaseOf(fix) || 'New', paint: phasePaint },
    { title: 'READY', rank: 2, cell: (fix) => readiness(fix).replace(' ready', '') },
    ...(isWide
      ? [
          { title: 'BY', rank: 6, cell: ({ spec }: Remediation) => spec.approval.by ?? '' },
          { title: 'ON IT', rank: 7, cell: (fix: Remediation) => whoIsOnIt(fix) ?? '' },
        ]
      : []),
    { title: 'AGE', rank: 1, cell: ({ metadata }) => age(nowMs - Date.parse(metadata.creationTimestamp)) },
  ];
}

const units: readonly [letter: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
];

/** Pure. As kubectl writes it: 41s, 6m, 3h, 12d. */
export function age(ms: number): string {
  if (!Number.isFinite(ms)) return '';
  const [letter, unit] = units.find(([, long]) => ms >= 2 * long) ?? ['s', 1000];
  return `${Math.max(0, Math.floor(ms / unit))}${letter}`;
}
