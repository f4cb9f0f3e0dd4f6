import { apiVersionOf, type KindRow } from './kinds.ts';
import { wrongType } from './metadata.ts';
import { isTree, type Request, type Tree } from './model.ts';
import { badRequest, Refusal } from './refusal.ts';
import { wrongShape } from './shapes.ts';

export const largestBody = 3 * 1024 * 1024;

export function mustBeSmall({ body }: Request): void {
  if (body !== undefined && Buffer.byteLength(body) > largestBody) throw tooLarge();
}

export const tooLarge = (): Refusal =>
  new Refusal(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${largestBody}`);

export const mediaTypeOf = ({ contentType = '' }: Request): string => contentType.split(';')[0]!.trim().toLowerCase();

export function mustBeJson(request: Request): void {
  if (['', 'application/json'].includes(mediaTypeOf(request))) return;
  const why = 'the body of the request was in an unknown format - accepted media types include: application/json';
  throw new Refusal(415, 'UnsupportedMediaType', why);
}

export function parseJson(body: string | undefined, say: (why: string) => string): unknown {
  try {
    return JSON.parse(body ?? '');
  } catch (error) {
    throw badRequest(say((error as Error).message));
  }
}

/** The object in a request: JSON of the kind that the path names, its metadata of the right types. */
export function decodeObject(request: Request, row: KindRow): Tree {
  mustBeJson(request);
  const say = (why: string): string =>
    `the object provided is unrecognized (must be of type ${row.kind}): couldn't get version/kind; json parse error: ${why}`;
  const value = parseJson(request.body, say) ?? {};
  if (!isTree(value)) throw badRequest(say(`json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value}`));
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
