import type { Access } from './access.ts';
import { bind } from './binding.ts';
import { orphan } from './collector.ts';
import type { Core, WriteOptions } from './core.ts';
import { decodeObject, mustBeSmall } from './decode.ts';
import { evict } from './eviction.ts';
import { apiVersionOf, type KindRow } from './kinds.ts';
import type { Answer, Request, Tree } from './model.ts';
import { endNamespace } from './namespaces.ts';
import { patchOf } from './patching.ts';
import { list, selection } from './reading.ts';
import { conflict, invalid, methodNotAllowed, qualifiedPlural, wrong } from './refusal.ts';
import { deleteOptionsOf, isDryRun, mustBeTheOne, remove, removedAnswer } from './removal.ts';
import { review } from './reviews.ts';
import { noSuchPage, route, type Target } from './route.ts';
import { onScale } from './scale.ts';
import { follow } from './stream.ts';
import { change, create, mustFind } from './writing.ts';

export interface World extends Core {
  access: Access;
  /** Does what follows from what was just written. */
  settle(): void;
}

/** One request, from its path to its answer. */
export function dispatch(world: World, request: Request): Answer {
  mustBeSmall(request);
  const who = world.access.whoIs(request.token);
  const target = route(request.path, world.rows);
  if (!target) return noSuchPage;
  if (target.row.review) {
    if (request.method !== 'POST' || target.name !== undefined) throw methodNotAllowed();
    return review(target.row, decodeObject(request, target.row), who, world.clock.now());
  }
  if (target.name === undefined) return onCollection(world, target, request);
  const special = target.subresource && specials[target.subresource];
  return special ? special(world, target, request) : onObject(world, target, request);
}

const isWatch = ({ watch = 'false' }: Request['query']): boolean => !['', '0', 'false'].includes(watch);

function optionsOf({ query, userAgent = '' }: Request, kind: string): WriteOptions {
  const manager = query['fieldManager'] || userAgent.split('/')[0] || 'unknown';
  return { manager, dryRun: isDryRun(query['dryRun'], { kind, group: 'meta.k8s.io', name: '' }) };
}

function onCollection(world: World, target: Target, request: Request): Answer {
  const { query, method } = request;
  if (method === 'GET') {
    return isWatch(query) ? follow(world, target, query, request.signal) : list(world.store, target, query);
  }
  if (target.row.namespaced && target.namespace === undefined) throw methodNotAllowed();
  if (method === 'DELETE' && target.row.kind !== 'Namespace') return removeAll(world, target, request);
  if (method !== 'POST') throw methodNotAllowed();
  const options = optionsOf(request, 'CreateOptions');
  return { status: 201, body: create(world, target, decodeObject(request, target.row), options) };
}

function onObject(world: World, target: Target, request: Request): Answer {
  switch (request.method) {
    case 'GET':
      return { status: 200, body: mustFind(world, target) };
    case 'PUT':
      return replace(world, target, request);
    case 'PATCH': {
      const options = optionsOf(request, 'PatchOptions');
      const current = mustFind(world, target);
      return { status: 200, body: change(world, target, current, patchOf(request, target.row, current), options) };
    }
    case 'DELETE':
      if (target.subresource !== undefined) throw methodNotAllowed();
      return removeOne(world, target, request);
    default:
      throw methodNotAllowed();
  }
}

function replace(world: World, target: Target, request: Request): Answer {
  const { row, name = '' } = target;
  const options = optionsOf(request, 'UpdateOptions');
  const asked = decodeObject(request, row);
  const current = mustFind(world, target);
  const { uid, resourceVersion } = (asked['metadata'] ?? {}) as { uid?: string; resourceVersion?: string };
  if (row.conditional && !resourceVersion) {
    const why = wrong('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalid({ ...row, name }, [why]);
  }
  if (uid && uid !== current.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`;
    throw conflict(qualifiedPlural(row), name, why);
  }
  return { status: 200, body: change(world, target, current, asked, options) };
}

function removeOne(world: World, target: Target, request: Request): Answer {
  const { row, namespace, name = '' } = target;
  const options = deleteOptionsOf(request);
  const current = mustFind(world, target);
  if (row.kind === 'Namespace') {
    return { status: 200, body: endNamespace(world, row, current, options, world.settle) };
  }
  const policy = options.policy ?? (row.orphans ? 'Orphan' : 'Background');
  mustBeTheOne(row, current, options.preconditions);
  if (policy === 'Orphan' && !options.dryRun) orphan(world, current);
  const after = remove(world, row, current, options);
  return removedAnswer(row, current, after, world.store.get(row, namespace, name) !== undefined);
}

function removeAll(world: World, { row, namespace }: Target, request: Request): Answer {
  const options = deleteOptionsOf(request);
  const selects = selection(request.query, row);
  const items = world.store.all(row, namespace).filter(selects);
  for (const object of items) remove(world, row, object, options);
  const metadata = { resourceVersion: String(world.store.revision()) };
  return { status: 200, body: { kind: `${row.kind}List`, apiVersion: apiVersionOf(row), metadata, items } };
}

type Special = (world: World, target: Target, request: Request) => Answer;

/** POST of an object that is a question or a command, about the object in the path. */
const command =
  (kind: string, group: string, work: (world: World, target: Target, body: Tree, dryRun: boolean) => Answer): Special =>
  (world, target, request) => {
    if (request.method !== 'POST') throw methodNotAllowed();
    const row = { ...target.row, kind, group, version: 'v1' } satisfies KindRow;
    return work(world, target, decodeObject(request, row), optionsOf(request, 'CreateOptions').dryRun);
  };

const specials: Record<string, Special> = {
  scale: (world, target, request) => onScale(world, target, request, optionsOf(request, 'UpdateOptions')),
  eviction: command('Eviction', 'policy', evict),
  binding: command('Binding', '', bind),
  token: command('TokenRequest', 'authentication.k8s.io', (world, target, body) =>
    world.access.issue(mustFind(world, target), body),
  ),
};
