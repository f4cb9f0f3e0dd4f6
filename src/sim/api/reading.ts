import { parseFieldSelector } from './field-selector.ts';
import { apiVersionOf, type KindRow } from './kinds.ts';
import { parseLabelSelector } from './label-selector.ts';
import type { Answer, Obj, Tree } from './model.ts';
import { badRequest, expired, invalid, problem, Refusal } from './refusal.ts';
import type { Target } from './route.ts';
import type { Store } from './store.ts';

export type Query = Readonly<Record<string, string>>;

/** Both selectors of a list or a watch, as one question. */
export function selection({ labelSelector = '', fieldSelector = '' }: Query, row: KindRow): (object: Obj) => boolean {
  const matchesLabels = parseLabelSelector(labelSelector);
  const matchesFields = parseFieldSelector(fieldSelector, row);
  return (object) => matchesLabels(object.metadata.labels ?? {}) && matchesFields(object);
}

const tooOld =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.';

interface Place {
  revision: number;
  after: string;
}

/** One page, and where the next one begins: of the same moment as the first, however much is written meanwhile. */
export function list(store: Store, { row, namespace }: Target, query: Query): Answer {
  const selects = selection(query, row);
  const limit = integer(query['limit'] ?? '0');
  const place = placeOf(query);
  const revision = place?.revision ?? exactRevision(query, store) ?? store.revision();
  const all = store.allAt(row, namespace, revision);
  if (!all) throw expired(place ? tooOld : `The resourceVersion for the provided list is too old.`);
  const rest = all.filter((object) => selects(object) && keyOf(object) > (place?.after ?? ''));
  const items = limit > 0 ? rest.slice(0, limit) : rest;
  const last = items.at(-1);
  const isMore = last !== undefined && items.length < rest.length;
  const hasSelector = Boolean(query['labelSelector'] || query['fieldSelector']);
  const metadata: Tree = {
    resourceVersion: String(revision),
    ...(isMore && { continue: tokenOf({ revision, after: keyOf(last) }) }),
    ...(isMore && !hasSelector && { remainingItemCount: rest.length - items.length }),
  };
  const bare = items.map(({ kind: _kind, apiVersion: _version, ...object }) => object);
  return { status: 200, body: { kind: `${row.kind}List`, apiVersion: apiVersionOf(row), metadata, items: bare } };
}

const keyOf = ({ metadata }: Obj): string => `${metadata.namespace ?? ''}/${metadata.name}`;

const tokenOf = ({ revision, after }: Place): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `${after}\0` })).toString('base64url');

function placeOf(query: Query): Place | undefined {
  const token = query['continue'];
  if (!token) return undefined;
  if (query['resourceVersion'] && query['resourceVersion'] !== '0')
    throw badRequest('specifying resource version is not allowed when using continue');
  try {
    const { rv, start } = JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as { rv: number; start: string };
    return { revision: Number(rv), after: start.replace(/\0$/, '') };
  } catch {
    throw badRequest('invalid continue token: continue key is not valid');
  }
}

/** "Not older than" is true of the newest there is; only "exactly" needs the past. */
function exactRevision({ resourceVersion = '', resourceVersionMatch, limit }: Query, store: Store): number | undefined {
  if (resourceVersionMatch && !resourceVersion) {
    const why = problem(
      'resourceVersionMatch',
      'Forbidden',
      'resourceVersionMatch is forbidden unless resourceVersion is provided',
    );
    throw invalid({ kind: 'ListOptions', group: 'meta.k8s.io', name: '' }, [why]);
  }
  if (resourceVersion === '') return undefined;
  const wanted = revisionOf(resourceVersion, 400);
  if (wanted > store.revision()) throw tooLarge(wanted, store.revision());
  const isExact = resourceVersionMatch === 'Exact' || (!resourceVersionMatch && Number(limit ?? 0) > 0);
  return isExact && wanted > 0 ? wanted : undefined;
}

export function tooLarge(wanted: number, current: number): Refusal {
  const message = `Too large resource version: ${wanted}, current: ${current}`;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  return new Refusal(504, 'Timeout', `Timeout: ${message}`, { causes });
}

export function revisionOf(resourceVersion: string, code: 400 | 500): number {
  if (/^\d+$/.test(resourceVersion)) return Number(resourceVersion);
  const why = `resourceVersion: Invalid value: "${resourceVersion}": strconv.ParseUint: parsing "${resourceVersion}": invalid syntax`;
  throw code === 400 ? badRequest(`invalid resource version: ${why}`) : new Refusal(500, '', why);
}

export function integer(value: string): number {
  if (/^[+-]?\d+$/.test(value)) return Number(value);
  throw badRequest(`strconv.ParseInt: parsing "${value}": invalid syntax`);
}
