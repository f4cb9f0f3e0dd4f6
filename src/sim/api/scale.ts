import type { Core, WriteOptions } from './core.ts';
import { decodeObject } from './decode.ts';
import type { KindRow } from './kinds.ts';
import { type Answer, count, type Obj, type Request, text, type Tree, tree } from './model.ts';
import { patchOf } from './patching.ts';
import { invalid, methodNotAllowed, wrong } from './refusal.ts';
import type { Target } from './route.ts';
import { selectorText } from './selector.ts';
import { change, mustFind } from './writing.ts';

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

/** How many, and nothing else, of whatever has replicas. */
export function onScale(core: Core, target: Target, request: Request, options: WriteOptions): Answer {
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
