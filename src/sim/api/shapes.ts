import { goType } from './metadata.ts';
import { at, isTree, type Tree, tree, trees } from './model.ts';
import { parseQuantity } from './quantity.ts';

type Type = 'int32' | 'bool' | 'string' | 'object' | 'list';

const template = { template: 'object', 'template.spec': 'object', 'template.spec.containers': 'list' } as const;
const workload = {
  replicas: 'int32',
  selector: 'object',
  minReadySeconds: 'int32',
  revisionHistoryLimit: 'int32',
  ...template,
} as const;

/** The fields of `spec` whose types are looked at. The real one knows the type of every field, and drops unknown ones. */
const shapes: Record<string, Record<string, Type>> = {
  Deployment: { ...workload, paused: 'bool', progressDeadlineSeconds: 'int32', strategy: 'object' },
  ReplicaSet: workload,
  StatefulSet: { ...workload, serviceName: 'string', updateStrategy: 'object' },
  DaemonSet: { ...workload, updateStrategy: 'object' },
  Job: { parallelism: 'int32', completions: 'int32', backoffLimit: 'int32', suspend: 'bool', ...template },
  CronJob: { schedule: 'string', suspend: 'bool', jobTemplate: 'object' },
  Pod: {
    containers: 'list',
    nodeName: 'string',
    restartPolicy: 'string',
    schedulerName: 'string',
    nodeSelector: 'object',
  },
  ResourceQuota: { hard: 'object', scopes: 'list' },
  Scale: { replicas: 'int32' },
  Node: { unschedulable: 'bool', taints: 'list' },
};

const fits: Record<Type, (value: unknown) => boolean> = {
  int32: (value) => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31,
  bool: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  object: isTree,
  list: Array.isArray,
};

/** In the words of Go's decoder; undefined when all is well. */
export function wrongShape(object: Tree, kind: string): string | undefined {
  const bad = (value: unknown, where: string, type: string): string =>
    `json: cannot unmarshal ${goType(value)} into Go struct field ${kind}${where} of type ${type}`;
  for (const part of ['spec', 'status']) {
    const value = object[part] ?? {};
    if (!isTree(value)) return bad(value, `.${part}`, `v1.${kind}${part === 'spec' ? 'Spec' : 'Status'}`);
  }
  for (const [path, type] of Object.entries(shapes[kind] ?? {})) {
    const value = at(object['spec'], path);
    if (value !== undefined && value !== null && !fits[type](value)) return bad(value, `Spec.spec.${path}`, type);
  }
  return wrongAmount(object, kind);
}

const amountWords = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Amounts of containers and quotas are read with the rest: a bad one is a bad request, not an invalid object. */
function wrongAmount(object: Tree, kind: string): string | undefined {
  const spec = tree(kind === 'Pod' ? object['spec'] : at(object, 'spec.template.spec'));
  const containers = [...trees(spec['containers']), ...trees(spec['initContainers'])];
  const lists = [
    ...containers.flatMap(({ resources }) => [at(resources, 'requests'), at(resources, 'limits')]),
    kind === 'ResourceQuota' ? at(object, 'spec.hard') : undefined,
  ];
  const isBad = lists.some((list) => Object.values(tree(list)).some((amount) => !parseQuantity(amount)));
  return isBad ? amountWords : undefined;
}
