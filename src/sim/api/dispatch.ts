import { apiVersionOf, type KindRow } from '../kinds/kinds.ts';
import { type Access, review } from './access.ts';
import { decodeObject, mustBeSmall } from './decoding.ts';
import { evict } from './disruption.ts';
import {
  conflict,
  internal,
  invalid,
  methodNotAllowed,
  noSuchResource,
  qualifiedPlural,
  success,
  wrong,
} from './http-refusals.ts';
import { list, selection } from './listing.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  count,
  type Obj,
  type RequestTarget,
  type ServerCore,
  stamp,
  text,
  type Tree,
  tree,
  trees,
  type WriteSettings,
} from './model.ts';
import { endNamespace } from './namespace-lifecycle.ts';
import { patchOf } from './patching.ts';
import { deleteOptionsOf, isDryRun, mustBeTheOne, orphan, remove, removedAnswer } from './removal.ts';
import { selectorText } from './selectors.ts';
import { follow } from './watch-stream.ts';
import { change, create, mustFind } from './writing.ts';

export interface DispatchCore extends ServerCore {
  access: Access;
  /** Runs the consequences of the writes so far. */
  settle(): void;
}

/** Answers one request. */
export function dispatch(core: DispatchCore, request: ApiRequest): ApiAnswer {
  mustBeSmall(request);
  const who = core.access.whoIs(request.token);
  const target = route(request.path, core.rows);
  if (!target) return noSuchPage;
  if (target.row.review) {
    if (request.method !== 'POST' || target.name !== undefined) throw methodNotAllowed();
    return review(target.row, decodeObject(request, target.row), who, core.clock.now());
  }
  if (target.name === undefined) return onCollection(core, target, request);
  const special = target.subresource && specials[target.subresource];
  return special ? special(core, target, request) : onObject(core, target, request);
}

const isWatch = ({ watch = 'false' }: ApiRequest['query']): boolean => !['', '0', 'false'].includes(watch);

function optionsOf({ query, userAgent = '' }: ApiRequest, kind: string): WriteSettings {
  const manager = query['fieldManager'] || userAgent.split('/')[0] || 'unknown';
  return { manager, dryRun: isDryRun(query['dryRun'], { kind, group: 'meta.k8s.io', name: '' }) };
}

function onCollection(core: DispatchCore, target: RequestTarget, request: ApiRequest): ApiAnswer {
  const { query, method } = request;
  if (method === 'GET') {
    return isWatch(query) ? follow(core, target, query, request.signal) : list(core.store, target, query);
  }
  if (target.row.namespaced && target.namespace === undefined) throw methodNotAllowed();
  if (method === 'DELETE' && target.row.kind !== 'Namespace') return removeAll(core, target, request);
  if (method !== 'POST') throw methodNotAllowed();
  const options = optionsOf(request, 'CreateOptions');
  return { status: 201, body: create(core, target, decodeObject(request, target.row), options) };
}

function onObject(core: DispatchCore, target: RequestTarget, request: ApiRequest): ApiAnswer {
  switch (request.method) {
    case 'GET':
      return { status: 200, body: mustFind(core, target) };
    case 'PUT':
      return replace(core, target, request);
    case 'PATCH': {
      const options = optionsOf(request, 'PatchOptions');
      const current = mustFind(core, target);
      return { status: 200, body: change(core, target, current, patchOf(request, target.row, current), options) };
    }
    case 'DELETE':
      if (target.subresource !== undefined) throw methodNotAllowed();
      return removeOne(core, target, request);
    default:
      throw methodNotAllowed();
  }
}

function replace(core: DispatchCore, target: RequestTarget, request: ApiRequest): ApiAnswer {
  const { row, name = '' } = target;
  const options = optionsOf(request, 'UpdateOptions');
  const asked = decodeObject(request, row);
  const current = mustFind(core, target);
  const { uid, resourceVersion } = (asked['metadata'] ?? {}) as { uid?: string; resourceVersion?: string };
  if (row.conditional && !resourceVersion) {
    const why = wrong('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalid({ ...row, name }, [why]);
  }
  if (uid && uid !== current.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`;
    throw conflict(qualifiedPlural(row), name, why);
  }
  return { status: 200, body: change(core, target, current, asked, options) };
}

function removeOne(core: DispatchCore, target: RequestTarget, request: ApiRequest): ApiAnswer {
  const { row, namespace, name = '' } = target;
  const options = deleteOptionsOf(request);
  const current = mustFind(core, target);
  if (row.kind === 'Namespace') {
    return { status: 200, body: endNamespace(core, row, current, options, core.settle) };
  }
  const policy = options.policy ?? (row.orphans ? 'Orphan' : 'Background');
  mustBeTheOne(row, current, options.preconditions);
  if (policy === 'Orphan' && !options.dryRun) orphan(core, current);
  const after = remove(core, row, current, options);
  return removedAnswer(row, current, after, core.store.get(row, namespace, name) !== undefined);
}

function removeAll(core: DispatchCore, { row, namespace }: RequestTarget, request: ApiRequest): ApiAnswer {
  const options = deleteOptionsOf(request);
  const selects = selection(request.query, row);
  const items = core.store.all(row, namespace).filter(selects);
  for (const object of items) remove(core, row, object, options);
  const metadata = { resourceVersion: String(core.store.revision()) };
  return { status: 200, body: { kind: `${row.kind}List`, apiVersion: apiVersionOf(row), metadata, items } };
}

type Special = (core: DispatchCore, target: RequestTarget, request: ApiRequest) => ApiAnswer;

/** A POST whose body is a command or a question about the object in the path. */
const command =
  (
    kind: string,
    group: string,
    work: (core: DispatchCore, target: RequestTarget, body: Tree, dryRun: boolean) => ApiAnswer,
  ): Special =>
  (core, target, request) => {
    if (request.method !== 'POST') throw methodNotAllowed();
    const row = { ...target.row, kind, group, version: 'v1' } satisfies KindRow;
    return work(core, target, decodeObject(request, row), optionsOf(request, 'CreateOptions').dryRun);
  };

const specials: Record<string, Special> = {
  scale: (core, target, request) => onScale(core, target, request, optionsOf(request, 'UpdateOptions')),
  eviction: command('Eviction', 'policy', evict),
  binding: command('Binding', '', bind),
  token: command('TokenRequest', 'authentication.k8s.io', (core, target, body) =>
    core.access.issue(mustFind(core, target), body),
  ),
};

/** The answer for an unknown API group is a page of text and not a Status. tapfix distinguishes the two. */
const noSuchPage: ApiAnswer = { status: 404, body: '404 page not found\n' };

/** Undefined when there is no such API group. Throws the real server's 404 when the group has no such resource. */
function route(path: string, rows: readonly KindRow[]): RequestTarget | undefined {
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
  // A path without a namespace can only name the collection of a namespaced kind.
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

const scaleRow: KindRow = {
  kind: 'Scale',
  group: 'autoscaling',
  version: 'v1',
  plural: 'scales',
  namespaced: true,
  subresources: [],
  names: 'subdomain',
  rules: {},
};

/** The scale subresource: it reads and writes only the number of replicas. */
function onScale(core: ServerCore, target: RequestTarget, request: ApiRequest, options: WriteSettings): ApiAnswer {
  const current = mustFind(core, target);
  if (request.method === 'GET') return { status: 200, body: scaleOf(current) };
  if (request.method !== 'PUT' && request.method !== 'PATCH') throw methodNotAllowed();
  const asked =
    request.method === 'PUT' ? decodeObject(request, scaleRow) : patchOf(request, scaleRow, scaleOf(current));
  const replicas = count(tree(asked['spec'])['replicas']);
  const problems = replicas < 0 ? [wrong('spec.replicas', replicas, 'must be greater than or equal to 0')] : [];
  if (problems.length > 0) throw invalid({ ...scaleRow, name: target.name ?? '' }, problems);
  const { resourceVersion } = tree(asked['metadata']);
  const metadata = { ...current.metadata, ...(text(resourceVersion) && { resourceVersion }) };
  const next = { ...current, metadata, spec: { ...current.spec, replicas } };
  return { status: 200, body: scaleOf(change(core, target, current, next, options)) };
}

function scaleOf({ metadata, spec = {}, status = {} }: Obj): Tree {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const replicas = count(spec['replicas']);
  return {
    kind: scaleRow.kind,
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: count(status['replicas']), selector: selectorText(spec['selector']) },
  };
}

/** The binding subresource: the scheduler assigns the pod to a node. */
function bind(core: ServerCore, target: RequestTarget, body: Tree, isDryRun: boolean): ApiAnswer {
  const node = text(tree(body['target'])['name']);
  if (!node) throw internal('target.name: Required value');
  const pod = mustFind(core, target);
  const { name, uid } = pod.metadata;
  const wanted = text(tree(body['metadata'])['uid']);
  if (wanted && wanted !== uid)
    throw conflict('pods', name, `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${uid}`);
  const assigned = text(pod.spec?.['nodeName']);
  if (pod.metadata.deletionTimestamp)
    throw conflict('pods/binding', name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if (assigned) throw conflict('pods/binding', name, `pod ${name} is already assigned to node "${assigned}"`);
  if (!isDryRun) core.store.put(target.row, bound(pod, node, stamp(core.clock.now())));
  return success(201);
}

function bound(pod: Obj, nodeName: string, now: string): Obj {
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
  const others = trees(pod.status?.['conditions']).filter(({ type }) => type !== scheduled.type);
  return { ...pod, spec: { ...pod.spec, nodeName }, status: { ...pod.status, conditions: [...others, scheduled] } };
}
