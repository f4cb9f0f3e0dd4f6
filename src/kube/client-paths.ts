import { ApiError } from './api.ts';
import { type Kind, pathOf, type Ref, resources } from './resources.ts';

/** The path of one object. An empty name would be the whole collection, ".." something else altogether: refused. */
export function objectPath({ kind, namespace, name, subresource }: Ref): string {
  mustBeName('name', name);
  if (resources[kind].namespaced) mustBeName('namespace', namespace ?? '');
  return pathOf(kind, namespace, name, subresource);
}

/** The path of all objects of a kind, in one namespace or everywhere. */
export function collectionPath(kind: Kind, namespace: string | undefined): string {
  if (namespace) mustBeName('namespace', namespace);
  return pathOf(kind, namespace);
}

function mustBeName(what: string, value: string): void {
  if (value && value !== '.' && value !== '..' && !value.includes('/')) return;
  throw new ApiError(`"${value}" is not the ${what} of an object`, 400, 'BadRequest');
}
