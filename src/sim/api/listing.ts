import { apiVersionOf, type KindRow } from '../kinds/kinds.ts';
import { ApiRefusal, badRequest, expired, invalid, problem } from './http-refusals.ts';
import type { ApiAnswer, Obj, RequestTarget, Tree } from './model.ts';
import type { ObjectStore } from './object-store.ts';
import { parseFieldSelector, parseLabelSelector } from './selectors.ts';

export type ListQuery = Readonly<Record<string, string>>;

/** One predicate for both selectors of a list or a watch. */
export function selection(
  { labelSelector = '', fieldSelector = '' }: ListQuery,
  row: KindRow,
): (object: Obj) => boolean {
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

/** Returns one page and the token of the next. All pages of a list show the same revision, whatever is written meanwhile. */
export function list(store: ObjectStore, { row, namespace }: RequestTarget, query: ListQuery): ApiAnswer {
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

function placeOf(query: ListQuery): Place | undefined {
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

/** The newest state satisfies "not older than"; only "exactly" needs an earlier one. */
function exactRevision(
  { resourceVersion = '', resourceVersionMatch, limit }: ListQuery,
  store: ObjectStore,
): number | undefined {
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

function tooLarge(wanted: number, current: number): ApiRefusal {
  const message = `Too large resource version: ${wanted}, current: ${current}`;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  return new ApiRefusal(504, 'Timeout', `Timeout: ${message}`, { causes });
}

export function revisionOf(resourceVersion: string, code: 400 | 500): number {
  if (/^\d+$/.test(resourceVersion)) return Number(resourceVersion);
  const why = `resourceVersion: Invalid value: "${resourceVersion}": strconv.ParseUint: parsing "${resourceVersion}": invalid syntax`;
  throw code === 400 ? badRequest(`invalid resource version: ${why}`) : new ApiRefusal(500, '', why);
}

export function integer(value: string): number {
  if (/^[+-]?\d+$/.test(value)) return Number(value);
  throw badRequest(`strconv.ParseInt: parsing "${value}": invalid syntax`);
}
