import type { KindRow } from '../kinds/kinds.ts';
import type { ApiAnswer } from './model.ts';

/** One thing that is wrong with an object. Several make one 422. */
export interface FieldProblem {
  field: string;
  /** The cause is this word after "FieldValue": "FieldValueInvalid". */
  reason: 'Required' | 'Invalid' | 'NotSupported' | 'Forbidden' | 'Duplicate' | 'TooLong' | 'TooMany' | 'TypeInvalid';
  detail: string;
}

interface Details {
  name?: string;
  group?: string;
  kind?: string;
  causes?: { reason: string; message: string; field?: string }[];
}

/** The API server refuses a request. Any part throws it; api-server.ts turns it into an answer. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';
  readonly code: number;
  readonly reason: string;
  readonly details: Details | undefined;
  constructor(code: number, reason: string, message: string, details?: Details) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

export function statusOf({ message, reason, details, code }: ApiRefusal): object {
  const fields = { message, ...(reason && { reason }), ...(details && { details }), code };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...fields };
}

export const success = (code: number): ApiAnswer => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code },
});

/** "deployments.apps": the name of a resource in most messages. */
export const qualifiedPlural = ({ plural, group }: KindRow): string => (group ? `${plural}.${group}` : plural);

const about = (row: KindRow, name: string): Details => ({
  ...(name && { name }),
  ...(row.group && { group: row.group }),
  kind: row.plural,
});

export const noSuchResource = (): ApiRefusal =>
  new ApiRefusal(404, 'NotFound', 'the server could not find the requested resource', {});
export const methodNotAllowed = (): ApiRefusal =>
  new ApiRefusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
export const badRequest = (message: string): ApiRefusal => new ApiRefusal(400, 'BadRequest', message);
/** The real server answers 500 where it has no better code. */
export const internal = (message: string): ApiRefusal => new ApiRefusal(500, '', message);
export const notFound = (row: KindRow, name: string): ApiRefusal =>
  new ApiRefusal(404, 'NotFound', `${qualifiedPlural(row)} "${name}" not found`, about(row, name));
export const alreadyExists = (row: KindRow, name: string): ApiRefusal =>
  new ApiRefusal(409, 'AlreadyExists', `${qualifiedPlural(row)} "${name}" already exists`, about(row, name));
export const forbidden = (row: KindRow, name: string, why: string, causes?: Details['causes']): ApiRefusal =>
  new ApiRefusal(403, 'Forbidden', `${qualifiedPlural(row)} "${name}" is forbidden: ${why}`, {
    ...about(row, name),
    ...(causes && { causes }),
  });
/** `what` is the resource, but the kind for a DELETE's preconditions, as on the real server. */
export const conflict = (what: string, name: string, why: string): ApiRefusal =>
  new ApiRefusal(409, 'Conflict', `Operation cannot be fulfilled on ${what} "${name}": ${why}`, { name, kind: what });
export const modified = (row: KindRow, name: string): ApiRefusal =>
  conflict(
    qualifiedPlural(row),
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
export const expired = (message: string): ApiRefusal => new ApiRefusal(410, 'Expired', message);
/** A JSON patch that does not apply. The real server gives no more detail either. */
export const doesNotApply = (): ApiRefusal =>
  new ApiRefusal(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

const reasonTexts: Record<FieldProblem['reason'], string> = {
  Required: 'Required value',
  Invalid: 'Invalid value',
  NotSupported: 'Unsupported value',
  Forbidden: 'Forbidden',
  Duplicate: 'Duplicate value',
  TooLong: 'Too long',
  TooMany: 'Too many',
  TypeInvalid: 'Invalid value',
};

interface RefusedObject {
  kind: string;
  group: string;
  name: string;
}

export function invalid({ kind, group, name }: RefusedObject, problems: readonly FieldProblem[]): ApiRefusal {
  const messages = problems.map(({ reason, detail }) =>
    detail ? `${reasonTexts[reason]}: ${detail}` : reasonTexts[reason],
  );
  const list = problems.map(({ field }, i) => `${field}: ${messages[i]}`);
  const message = list.length === 1 ? list[0] : `[${list.join(', ')}]`;
  const causes = problems.map(({ field, reason }, i) => ({
    reason: `FieldValue${reason}`,
    message: messages[i]!,
    field,
  }));
  const what = group ? `${kind}.${group}` : kind;
  const details = { ...(name && { name }), ...(group && { group }), kind, causes };
  return new ApiRefusal(422, 'Invalid', `${what} "${name}" is invalid: ${message}`, details);
}

export const problem = (field: string, reason: FieldProblem['reason'], detail = ''): FieldProblem => ({
  field,
  reason,
  detail,
});
/** Reads as "Invalid value: VALUE: WHY". */
export const wrong = (field: string, value: unknown, why: string): FieldProblem =>
  problem(field, 'Invalid', `${JSON.stringify(value ?? null)}: ${why}`);
export const unsupported = (field: string, value: unknown, supported: readonly string[]): FieldProblem =>
  problem(
    field,
    'NotSupported',
    `${JSON.stringify(value)}: supported values: ${supported.map((one) => `"${one}"`).join(', ')}`,
  );
