import type { KindRow, KindRules } from '../kinds/kinds.ts';
import { qosClass } from '../kinds/workload-rules.ts';
import { canonicalQuantity } from './exact-quantity.ts';
import { type FieldProblem, problem } from './http-refusals.ts';
import { isTree, type Obj, objectsOf, type ServerCore, type Tree, tree, trees } from './model.ts';

const amounts = (list: unknown): Tree =>
  Object.fromEntries(Object.entries(tree(list)).map(([name, amount]) => [name, canonicalQuantity(amount)]));

/** A default limit is also the default request. */
function filled(item: Tree): Tree {
  if (item['type'] !== 'Container') return item;
  const limits = amounts(item['default']);
  return { ...item, default: limits, defaultRequest: { ...limits, ...amounts(item['defaultRequest']) } };
}

const bounds = ['max', 'min', 'maxLimitRequestRatio'];

/** Only the defaults that a LimitRange gives to containers; the simulated API server refuses one with bounds. */
export const limitRangeRules: KindRules = {
  defaults: ({ spec = {}, ...object }) =>
    ({ ...object, spec: { ...spec, limits: trees(spec['limits']).map(filled) } }) as Obj,
  check: ({ spec = {} }) =>
    trees(spec['limits']).flatMap((item, i): FieldProblem[] =>
      bounds
        .filter((field) => item[field] !== undefined)
        .map((field) => problem(`spec.limits[${i}].${field}`, 'Forbidden', 'the simulated API server has none')),
    ),
};

/** A new pod with the defaults of the namespace's LimitRanges in containers that do not state their own; any other object as it is. */
export function withLimitDefaults(core: ServerCore, { kind }: KindRow, object: Obj): Obj {
  if (kind !== 'Pod') return object;
  const ranges = objectsOf(core, 'LimitRange', object.metadata.namespace ?? '');
  const items = ranges.flatMap(({ spec = {} }) => trees(spec['limits'])).filter(({ type }) => type === 'Container');
  return items.reduce(given, object);
}

function given(object: Obj, item: Tree): Obj {
  const { spec = {}, status = {} } = object;
  const of = (list: unknown): Tree[] =>
    trees(list).map((container) => ({ ...container, resources: resourcesOf(container, item) }));
  const next = {
    ...spec,
    containers: of(spec['containers']),
    ...(Array.isArray(spec['initContainers']) && { initContainers: of(spec['initContainers']) }),
  };
  return { ...object, spec: next, status: { ...status, qosClass: qosClass(next) } };
}

function resourcesOf({ resources }: Tree, item: Tree): Tree {
  const { requests, limits, ...others } = isTree(resources) ? resources : {};
  return {
    ...others,
    limits: { ...tree(item['default']), ...tree(limits) },
    requests: { ...tree(item['defaultRequest']), ...tree(requests) },
  };
}
