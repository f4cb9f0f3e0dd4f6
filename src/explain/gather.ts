import { closest } from '../config/did-you-mean.ts';
import type { Config } from '../config/schema.ts';
import { createOnce } from '../diagnosis/once.ts';
import { createSnapshot } from '../diagnosis/snapshot.ts';
import { judgeSignal, type Place, spaceOf } from '../incidents/judge.ts';
import { incidentKey, isClusterScoped } from '../incidents/key.ts';
import { createOwnerResolver } from '../incidents/owner.ts';
import { isAffectedBy } from '../incidents/symptoms.ts';
import { hasCode, isForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { viewNotice } from '../kube/notice.ts';
import { isCleared, type Remediation, viewRemediation } from '../kube/remediation.ts';
import type { Kind } from '../kube/resources.ts';
import type { Clock } from '../lib/clock.ts';
import { UserError } from '../lib/errors.ts';
import { type Sighting, survey } from '../signals/survey.ts';
import type { Findings, Seen } from './findings.ts';
import { openCase } from './open-case.ts';
import { spoken, type Target } from './target.ts';

export interface GatherDeps {
  /** Nothing is ever written. */
  reader: Reader;
  clock: Clock;
  config: Config;
  ownNamespace: string;
}

/** Street 1 once more, from the live objects to what would be recorded, for one object and whatever it belongs to. */
export async function gather(deps: GatherDeps, target: Target): Promise<Findings> {
  const { config, ownNamespace, clock } = deps;
  const reader = createOnce(deps.reader);
  const nowMs = clock.now();
  const { kind, name, namespace } = target;
  const uid = await uidOf(reader, target);
  // Of one namespace everything is read from whole lists: there may be thousands of pods.
  const owners = createOwnerResolver(namespace ? createSnapshot(reader, namespace) : reader, clock);
  const root = await owners.rootOf(namespace, { kind, name, uid: uid ?? '' });
  if (!root) throw new UserError(await notThere(reader, target));

  async function related(sighting: Sighting): Promise<Seen[]> {
    const { signal } = sighting;
    const whose = await owners.rootOf(spaceOf(signal), signal.object);
    const isOurs = [whose, signal.object, signal.cause].some(
      (one) => one && (isSame(one, root!) || isSame(one, target)),
    );
    return isOurs ? [{ ...sighting, judged: judgeSignal(config, signal, whose, ownNamespace) }] : [];
  }
  const { sightings, unread } = await survey({ reader, namespace: namespace || undefined, config, nowMs });
  const seen: Seen[] = [];
  for (const sighting of sightings) seen.push(...(await related(sighting)));

  const space = isClusterScoped(root.kind) ? ownNamespace : namespace;
  const records = await readRecords(reader, space, ownNamespace);
  const own: Place = { key: incidentKey(space, root), namespace: space, object: root };
  const kept = seen.flatMap(({ judged }) => ('place' in judged ? [judged.place] : []));
  const causes = records.fixes.filter((fix) => !isCleared(fix) && isAffectedBy(fix, space, root)).map(placeOf);
  const places = new Map([own, ...kept, ...causes].map((place) => [place.key, place])).values();
  const ground = { reader, config, ownNamespace, nowMs, fixes: records.fixes, seen };
  const [first, ...others] = await Promise.all([...places].map((place) => openCase(ground, place)));
  return {
    target,
    root,
    isGone: uid === undefined,
    seen,
    cases: [first!, ...others],
    notices: records.notices,
    unread: [...unread, ...records.unread],
    isInstalled: records.isInstalled,
  };
}

const isSame = (a: { kind: string; name: string }, b: { kind: string; name: string }): boolean =>
  a.kind === b.kind && a.name === b.name;

const placeOf = ({ metadata, spec }: Remediation): Place => ({
  key: spec.incident.key,
  namespace: metadata.namespace ?? '',
  object: spec.incident.object,
});

/** undefined: there is none. */
async function uidOf(reader: Reader, target: Target): Promise<string | undefined> {
  const { kind, namespace, name } = target;
  try {
    return (await reader.get<KubeObject>({ kind, ...(namespace && { namespace }), name }))?.metadata.uid;
  } catch (error) {
    if (isForbidden(error)) throw new UserError(`you may not read ${spoken(target)}: ${(error as Error).message}`);
    throw error;
  }
}

/** Whoever is in a hurry mistypes. */
async function notThere(reader: Reader, target: Target): Promise<string> {
  const { kind, namespace, name } = target;
  const isNone = async (): Promise<boolean> => (await reader.get({ kind: 'Namespace', name: namespace })) === undefined;
  if (namespace && (await isNone().catch(() => false))) return `there is no namespace ${namespace}`;
  const others = await reader.list<KubeObject>(kind, namespace || undefined).catch(() => []);
  const names = others.map(({ metadata }) => metadata.name);
  const close = closest(name, names);
  return `there is no ${spoken(target)}${close ? `: did you mean ${close}?` : ''}`;
}

interface Records extends Pick<Findings, 'notices' | 'isInstalled'> {
  fixes: Remediation[];
  unread: Kind[];
}

/** What tapfix has written down. In a cluster that does not know its resources there is nothing. */
async function readRecords(reader: Reader, space: string, ownNamespace: string): Promise<Records> {
  const unread = new Set<Kind>();
  let isInstalled = true;
  const list = async (kind: Kind, namespace: string): Promise<KubeObject[]> => {
    try {
      return await reader.list<KubeObject>(kind, namespace);
    } catch (error) {
      if (isForbidden(error)) unread.add(kind);
      else if (hasCode(error, 404)) isInstalled = false;
      else throw error;
      return [];
    }
  };
  const spaces = [...new Set([space, ownNamespace])];
  const fixes = (await Promise.all(spaces.map((one) => list('Remediation', one)))).flat();
  const notices = await list('Notice', ownNamespace);
  return {
    fixes: fixes.flatMap((one) => viewRemediation(one) ?? []),
    notices: notices.flatMap((one) => viewNotice(one) ?? []),
    unread: [...unread],
    isInstalled,
  };
}
