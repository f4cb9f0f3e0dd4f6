import { isForbidden } from '../../kube/api.ts';
import { type Remediation, replacedIn, shortIdOf, viewRemediation } from '../../kube/remediation.ts';
import { messageOf, UserError } from '../../lib/errors.ts';
import { closest } from '../../lib/text.ts';
import { isSettled } from '../../notices/cards/head.ts';
import { needsApprover, type Session } from '../cluster-session.ts';

/** The words by which a person means a record. Six hexadecimal digits may be an id or a name; "#" is only in front of an id. */
export interface WantedRecord {
  id?: string;
  name?: string;
  namespace?: string;
}

/** Pure. "#3f9a1c", "3f9a1c", "checkout", "checkout-3f9a1c-1", "shop/checkout", "fix/checkout-3f9a1c-1". */
export function parseWanted(text: string): WantedRecord {
  const plain = text.trim().toLowerCase();
  if (/^#[0-9a-f]{6}$/.test(plain)) return { id: plain };
  if (/^[0-9a-f]{6}$/.test(plain)) return { id: `#${plain}`, name: plain };
  const parts = plain.split('/');
  if (parts.some((part) => part === '') || parts.length > 2)
    throw new UserError(
      `${JSON.stringify(text)} is no name: write a Remediation, a workload, NAMESPACE/NAME or a short id such as 3f9a1c`,
      2,
    );
  const [first = '', name] = parts;
  if (name === undefined) return { name: first };
  // As "kubectl get fix -o name" writes it.
  return /^(fix|rem|remediations?)(\.tapfix\.dev)?$/.test(first) ? { name } : { namespace: first, name };
}

type Match = { fix: Remediation } | { several: Remediation[] } | undefined;

/**
 * Pure. A record by its own name; otherwise the one that is open among those of this workload or with this id; otherwise
 * the newest of them, so that a person reads what became of it. A record that a newer one replaced is found only by its name.
 */
export function matchIn(fixes: readonly Remediation[], wanted: WantedRecord): Match {
  const here = fixes.filter(
    ({ metadata }) => wanted.namespace === undefined || metadata.namespace === wanted.namespace,
  );
  const exact = here.filter(({ metadata }) => metadata.name === wanted.name);
  if (exact.length > 0) return exact.length === 1 ? { fix: exact[0]! } : { several: exact };
  const replaced = replacedIn(fixes);
  const called = here.filter((fix) => !replaced.has(fix.metadata.uid) && isCalled(fix, wanted));
  const open = called.filter((fix) => !isSettled(fix));
  if (open.length > 0) return open.length === 1 ? { fix: open[0]! } : { several: open };
  const incidents = Map.groupBy(called, ({ spec }) => spec.incident.key);
  const [newest, ...others] = [...incidents.values()].map((ofOne) => ofOne.toSorted(newestFirst)[0]!);
  if (!newest) return undefined;
  return others.length === 0 ? { fix: newest } : { several: [newest, ...others] };
}

const isCalled = (fix: Remediation, { id, name }: WantedRecord): boolean =>
  shortIdOf(fix) === id || fix.spec.incident.object.name.toLowerCase() === name;

const newestFirst = (a: Remediation, b: Remediation): number =>
  a.metadata.creationTimestamp < b.metadata.creationTimestamp ? 1 : -1;

const fullName = ({ metadata }: Remediation): string => `${metadata.namespace ?? ''}/${metadata.name}`;

type Reading = Pick<Session, 'api' | 'namespace' | 'isNamed'>;

/** The records of one namespace, or of all. */
export async function readRecords(
  { api }: Pick<Session, 'api'>,
  namespace: string | undefined,
): Promise<Remediation[]> {
  try {
    const found = await api.list<Remediation>('Remediation', namespace);
    return found.flatMap((one) => viewRemediation(one) ?? []);
  } catch (error) {
    if (namespace === undefined && isForbidden(error))
      throw new UserError(`you may not look in all namespaces; name one with -n: ${messageOf(error)}`, 1, error);
    throw needsApprover(error, 'look', namespace ?? '', undefined);
  }
}

/** Those of every namespace, or nothing for a person who may not look there. */
const elsewhere = (session: Pick<Session, 'api'>): Promise<Remediation[]> =>
  readRecords(session, undefined).catch((error: unknown) => {
    if (error instanceof UserError) return [];
    throw error;
  });

/**
 * The record that a person named. A short id is looked for everywhere, because no two incidents share one; a name only in
 * the namespace asked for: a decision is not about something of the same name elsewhere.
 */
export async function findRecord(text: string, session: Reading): Promise<Remediation> {
  const wanted = parseWanted(text);
  if (wanted.namespace !== undefined && session.isNamed && wanted.namespace !== session.namespace)
    throw new UserError(`-n ${session.namespace} and ${text} name two namespaces; leave one out`, 2);
  const where = wanted.namespace ?? session.namespace;
  const here = await readRecords(session, where);
  const match = matchIn(here, wanted);
  if (match) return theOne(text, match);
  const all = session.isNamed ? [] : await elsewhere(session);
  const byId = wanted.id === undefined ? undefined : matchIn(all, { id: wanted.id });
  if (byId) return theOne(text, byId);
  throw new UserError(notFound(text, wanted, where, here, all));
}

function theOne(text: string, match: NonNullable<Match>): Remediation {
  if ('fix' in match) return match.fix;
  const lines = match.several.map((fix) => {
    const { object, class: failure } = fix.spec.incident;
    return `  ${fullName(fix)}  (${object.kind} ${object.name}, ${failure})`;
  });
  throw new UserError(`${JSON.stringify(text)} may be any of these; write its name:\n${lines.join('\n')}`);
}

/** Pure. The sentence for a name that is nowhere, with the closest one that is somewhere. */
export function notFound(
  text: string,
  { id, name = '' }: WantedRecord,
  where: string,
  here: readonly Remediation[],
  all: readonly Remediation[],
): string {
  const isNothing = `nothing is recorded about ${text} in namespace ${where}`;
  const near = closest(name, here.flatMap(namesOf)) ?? (id && closest(id, here.map(shortIdOf)));
  if (near) return `${isNothing}: did you mean ${near}?`;
  const same = all.filter((fix) => namesOf(fix).includes(name)).map((fix) => placed(fix, name));
  if (same.length > 0) return `${isNothing}: did you mean ${[...new Set(same)].slice(0, 4).join(' or ')}?`;
  const close = closest(name, all.flatMap(namesOf));
  const owner = close === undefined ? undefined : all.find((fix) => namesOf(fix).includes(close));
  if (owner && close !== undefined) return `${isNothing}: did you mean ${placed(owner, close)}?`;
  return `${isNothing}; tapfix list -A shows everything that is`;
}

const namesOf = ({ metadata, spec }: Remediation): string[] => [spec.incident.object.name.toLowerCase(), metadata.name];
const placed = ({ metadata }: Remediation, name: string): string => `${metadata.namespace ?? ''}/${name}`;
