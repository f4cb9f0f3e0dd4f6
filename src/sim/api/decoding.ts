import { apiVersionOf, type KindRow } from '../kinds/kinds.ts';
import { parseQuantity } from './exact-quantity.ts';
import { ApiRefusal, badRequest } from './http-refusals.ts';
import { goType, wrongType } from './metadata.ts';
import { type ApiRequest, at, isTree, type Tree, tree, trees } from './model.ts';

export const largestBody = 3 * 1024 * 1024;

export function mustBeSmall({ body }: ApiRequest): void {
  if (body !== undefined && Buffer.byteLength(body) > largestBody) throw tooLarge();
}

const tooLarge = (): ApiRefusal =>
  new ApiRefusal(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${largestBody}`);

export const mediaTypeOf = ({ contentType = '' }: ApiRequest): string =>
  contentType.split(';')[0]!.trim().toLowerCase();

function mustBeJson(request: ApiRequest): void {
  if (['', 'application/json'].includes(mediaTypeOf(request))) return;
  const why = 'the body of the request was in an unknown format - accepted media types include: application/json';
  throw new ApiRefusal(415, 'UnsupportedMediaType', why);
}

export function parseJson(body: string | undefined, explain: (why: string) => string): unknown {
  try {
    return JSON.parse(body ?? '');
  } catch (error) {
    throw badRequest(explain((error as Error).message));
  }
}

/** Decodes the object in a request: JSON of the kind that the path names, with metadata of the right types. */
export function decodeObject(request: ApiRequest, row: KindRow): Tree {
  mustBeJson(request);
  const explain = (why: string): string =>
    `the object provided is unrecognized (must be of type ${row.kind}): couldn't get version/kind; json parse error: ${why}`;
  const value = parseJson(request.body, explain) ?? {};
  if (!isTree(value))
    throw badRequest(explain(`json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value}`));
  const problem = wrongKind(value, row) ?? wrongType(value) ?? wrongShape(value, row.kind);
  if (problem) throw badRequest(cannotHandle(value, row, problem));
  return value;
}

const cannotHandle = ({ apiVersion, kind }: Tree, row: KindRow, why: string): string =>
  `${String(kind ?? row.kind)} in version "${String(apiVersion ?? row.version)
    .split('/')
    .at(-1)}" cannot be handled as a ${row.kind}: ${why}`;

function wrongKind({ apiVersion, kind }: Tree, row: KindRow): string | undefined {
  if (row.custom && !(apiVersion && kind)) throw badRequest(`Object '${kind ? 'apiVersion' : 'Kind'}' is missing`);
  const isRight = (apiVersion ?? apiVersionOf(row)) === apiVersionOf(row) && (kind ?? row.kind) === row.kind;
  return isRight ? undefined : `it is no ${row.kind} of ${apiVersionOf(row)}`;
}

type Type = 'int32' | 'bool' | 'string' | 'object' | 'list';

const template = { template: 'object', 'template.spec': 'object', 'template.spec.containers': 'list' } as const;
const workload = {
  replicas: 'int32',
  selector: 'object',
  minReadySeconds: 'int32',
  revisionHistoryLimit: 'int32',
  ...template,
} as const;

/** The fields of `spec` whose types are checked. The real server knows the type of every field, and drops unknown fields. */
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

/** The first field of a wrong type, in the words of Go's decoder; undefined when there is none. */
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

const amountRule = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Amounts are decoded with the rest of the object, so a bad one is a bad request and not an invalid object. */
function wrongAmount(object: Tree, kind: string): string | undefined {
  const spec = tree(kind === 'Pod' ? object['spec'] : at(object, 'spec.template.spec'));
  const containers = [...trees(spec['containers']), ...trees(spec['initContainers'])];
  const lists = [
    ...containers.flatMap(({ resources }) => [at(resources, 'requests'), at(resources, 'limits')]),
    kind === 'ResourceQuota' ? at(object, 'spec.hard') : undefined,
  ];
  const isBad = lists.some((list) => Object.values(tree(list)).some((amount) => !parseQuantity(amount)));
  return isBad ? amountRule : undefined;
}
