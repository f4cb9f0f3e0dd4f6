import type { KubeObject, Reader } from '../../kube/api.ts';
import { isForbidden } from '../../kube/api.ts';
import { type Mute, mutesIn, mutesKey, mutesName } from '../../kube/mutes.ts';
import { arr, num, obj, specIn, statusIn, str } from '../../kube/raw.ts';
import { isBeingFixed, isBroken, type Remediation, replacedIn, severityOf } from '../../kube/remediation.ts';
import { spokenDuration } from '../../lib/duration.ts';
import { messageOf, UserError } from '../../lib/errors.ts';
import { isPending } from '../../notices/cards/card-context.ts';
import { timesIn } from '../../notices/cards/times.ts';
import type { ClusterOptions, Session } from '../cluster-session.ts';
import { painted } from '../records/columns.ts';
import { readRecords } from '../records/find-record.ts';
import {
  deploymentOf,
  leaderOf,
  podRoles,
  readRole,
  readyPod,
  renewalOf,
  type RoleFacts,
  whyNone,
} from './role-pods.ts';

interface StatusLine {
  label: string;
  text: string;
  isWell: boolean;
}

/** `tapfix status`: whether tapfix itself works, what is open, and what is muted. Exit 1 when a role does not work. */
export async function runStatus(_options: ClusterOptions, session: Session): Promise<number> {
  const { api, io, clock, ownNamespace, server, terminal, timeZone } = session;
  const nowMs = clock.now();
  const roles = await Promise.all(podRoles.map((role) => readRole(api, ownNamespace, role)));
  if (roles.every(({ deployment }) => !deployment))
    throw new UserError(
      `tapfix is not installed in namespace ${ownNamespace} of ${server} (-n names another namespace)`,
    );
  const [open, muted] = await Promise.all([openText(session), mutedTexts(session)]);
  const lines: StatusLine[] = [
    ...roles.map((facts) => roleLine(facts, nowMs)),
    { label: 'open', text: open, isWell: true },
    ...muted.map((text) => ({ label: 'muted', text, isWell: true })),
  ];
  const shown = lines.map(({ label, text, isWell }) =>
    painted(`${label.padEnd(12)}${text}`, isWell ? undefined : 'red', terminal.colour),
  );
  io.print(
    [`tapfix in namespace ${ownNamespace} of ${server}, ${timesIn(timeZone, nowMs).atZoned(nowMs)}`, ...shown].join(
      '\n',
    ),
  );
  return lines.every(({ isWell }) => isWell) ? 0 : 1;
}

/** Pure. Whether the role has the replicas it should have, and one of them leads. */
export function roleLine(facts: RoleFacts, nowMs: number): StatusLine {
  const { role, deployment } = facts;
  if (!deployment) return { label: role, text: `there is no Deployment ${deploymentOf(role)}`, isWell: false };
  const wanted = num(specIn(deployment)['replicas'], 1);
  const ready = num(statusIn(deployment)['readyReplicas']);
  const renewal = renewalOf(facts, nowMs);
  const leader = leaderOf(facts);
  const isLed = leader !== undefined && renewal !== undefined && !renewal.isLate;
  const leads = isLed
    ? `${leader} leads`
    : leader && renewal
      ? `nobody leads: ${leader} last renewed its Lease ${spokenDuration(renewal.agoMs)} ago`
      : 'nobody leads';
  const why = readyPod(facts) || wanted === 0 ? [] : [whyNone(facts, nowMs).why];
  const text = [`${ready}/${wanted} ready`, versionIn(deployment), leads, ...why].filter(Boolean).join(', ');
  return { label: role, text, isWell: wanted > 0 && ready >= wanted && isLed };
}

/** The image's tag or digest: "version 0.1.0". */
export function versionIn(deployment: KubeObject): string {
  const [container] = arr(obj(obj(specIn(deployment)['template'])['spec'])['containers']);
  const image = str(container?.['image']);
  const [, tag] = /:([\w][\w.-]{0,127})$/.exec(image) ?? [];
  return image && (tag ? `version ${tag}` : `image ${image}`);
}

async function openText(session: Session): Promise<string> {
  try {
    const fixes = await readRecords(session, undefined);
    return countsOf(fixes, session.clock.now());
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return 'not known: you may not look in all namespaces (tapfix list -n NAMESPACE)';
  }
}

/** Pure. "3 broken: 1 critical, 2 warning; 1 waits for a decision, 1 is being fixed". */
export function countsOf(fixes: readonly Remediation[], nowMs: number): string {
  const replaced = replacedIn(fixes);
  const last = fixes.filter(({ metadata }) => !replaced.has(metadata.uid));
  const broken = last.filter(isBroken);
  if (broken.length === 0) return 'nothing is broken';
  const count = (severity: string): string[] => {
    const some = broken.filter((fix) => severityOf(fix) === severity).length;
    return some > 0 ? [`${some} ${severity}`] : [];
  };
  const waiting = broken.filter((fix) => isPending(fix, nowMs)).length;
  const fixing = broken.filter(isBeingFixed).length;
  const severities = ['critical', 'warning', 'info'].flatMap(count).join(', ');
  const stages = [
    ...(waiting > 0 ? [`${waiting} ${waiting === 1 ? 'waits' : 'wait'} for a decision`] : []),
    ...(fixing > 0 ? [`${fixing} ${fixing === 1 ? 'is' : 'are'} being fixed`] : []),
  ].join(', ');
  return [`${broken.length} broken: ${severities}`, stages].filter(Boolean).join('; ');
}

export interface Muted {
  mutes: Mute[];
  /** Why they are not known. */
  problem?: string;
}

type ConfigMap = KubeObject & { data?: Record<string, string> };

export async function readMutes(api: Pick<Reader, 'get'>, namespace: string, nowMs: number): Promise<Muted> {
  try {
    const map = await api.get<ConfigMap>({ kind: 'ConfigMap', namespace, name: mutesName });
    return { mutes: mutesIn(map?.data?.[mutesKey], nowMs) };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return { mutes: [], problem: `not known: ${messageOf(error)}` };
  }
}

/** Pure. "shop-* until 03:42 CET by ada". */
export const muteText = ({ glob, until, by }: Mute, nowMs: number, timeZone: string): string =>
  `${glob} until ${timesIn(timeZone, nowMs).minuteZoned(until)}${by ? ` by ${by}` : ''}`;

async function mutedTexts({ api, ownNamespace, clock, timeZone }: Session): Promise<string[]> {
  const nowMs = clock.now();
  const { mutes, problem } = await readMutes(api, ownNamespace, nowMs);
  if (problem) return [problem];
  return mutes.length === 0 ? ['nothing'] : mutes.map((mute) => muteText(mute, nowMs, timeZone));
}
