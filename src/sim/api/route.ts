import type { KindRow } from './kinds.ts';
import type { Answer } from './model.ts';
import { noSuchResource } from './refusal.ts';

/** What a path names: a collection, one object, or a subresource of one. */
export interface Target {
  row: KindRow;
  namespace: string | undefined;
  name: string | undefined;
  subresource: string | undefined;
}

/** An API group that is not there: a page of text, not a Status. tapfix tells the two apart. */
export const noSuchPage: Answer = { status: 404, body: '404 page not found\n' };

/** undefined: there is no such API group. Throws what the real one says of a resource that its group does not have. */
export function route(path: string, rows: readonly KindRow[]): Target | undefined {
  const [root, ...rest] = path.split('/').slice(1).map(decoded);
  const group = root === 'api' ? '' : root === 'apis' ? rest.shift() : undefined;
  const version = rest.shift();
  const known = rows.filter((row) => row.group === group && row.version === version);
  if (known.length === 0) return undefined;
  const { namespace, segments } = scoped(rest);
  const [plural, name, subresource, ...tooMany] = segments;
  const row = known.find((one) => one.plural === plural);
  if (!row || tooMany.length > 0 || segments.includes('')) throw noSuchResource();
  if (namespace !== undefined && !row.namespaced) throw noSuchResource();
  // Without a namespace only the collection of a namespaced kind is there.
  if (row.namespaced && namespace === undefined && name !== undefined) throw noSuchResource();
  if (subresource !== undefined && !row.subresources.includes(subresource)) throw noSuchResource();
  return { row, namespace, name, subresource };
}

/** /namespaces/NAME/status is a subresource of the namespace; any other third segment is a kind inside it. */
function scoped(rest: string[]): { namespace: string | undefined; segments: string[] } {
  const [first, namespace, third] = rest;
  const isScope = first === 'namespaces' && third !== undefined && third !== 'status';
  return isScope ? { namespace, segments: rest.slice(2) } : { namespace: undefined, segments: rest };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
