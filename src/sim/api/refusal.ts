import type { KindRow } from './kinds.ts';
import type { Answer } from './model.ts';

/** One thing that is wrong with an object; several make one 422. */
export interface Problem {
  field: string;
  /** As in "FieldValueInvalid". */
  reason: 'Required' | 'Invalid' | 'NotSupported' | 'Forbidden' | 'Duplicate' | 'TooLong' | 'TooMany' | 'TypeInvalid';
  say: string;
}

interface Details {
  name?: string;
  group?: string;
  kind?: string;
  causes?: { reason: string; message: string; field?: string }[];
}

/** The API server says no: thrown anywhere, answered in one place. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
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

export function statusOf({ message, reason, details, code }: Refusal): object {
  const said = { message, ...(reason && { reason }), ...(details && { details }), code };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...said };
}

export const success = (code: number): Answer => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code },
});

/** "deployments.apps", as most messages call a resource. */
export const qualifiedPlural = ({ plural, group }: KindRow): string => (group ? `${plural}.${group}` : plural);

const about = (row: KindRow, name: string): Details => ({
  ...(name && { name }),
  ...(row.group && { group: row.group }),
  kind: row.plural,
});

export const noSuchResource = (): Refusal =>
  new Refusal(404, 'NotFound', 'the server could not find the requested resource', {});
export const methodNotAllowed = (): Refusal =>
  new Refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
export const badRequest = (message: string): Refusal => new Refusal(400, 'BadRequest', message);
/** What the real one has no better word for. */
export const internal = (message: string): Refusal => new Refusal(500, '', message);
export const notFound = (row: KindRow, name: string): Refusal =>
  new Refusal(404, 'NotFound', `${qualifiedPlural(row)} "${name}" not found`, about(row, name));
export const alreadyExists = (row: KindRow, name: string): Refusal =>
  new Refusal(409, 'AlreadyExists', `${qualifiedPlural(row)} "${name}" already exists`, about(row, name));
export const forbidden = (row: KindRow, name: string, why: string, causes?: Details['causes']): Refusal =>
  new Refusal(403, 'Forbidden', `${qualifiedPlural(row)} "${name}" is forbidden: ${why}`, {
    ...about(row, name),
    ...(causes && { causes }),
  });
/** `what` is the resource, or for a DELETE's preconditions the kind, as the real one has it. */
export const conflict = (what: string, name: string, why: string): Refusal =>
  new Refusal(409, 'Conflict', `Operation cannot be fulfilled on ${what} "${name}": ${why}`, { name, kind: what });
export const modified = (row: KindRow, name: string): Refusal =>
  conflict(
    qualifiedPlural(row),
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
export const expired = (message: string): Refusal => new Refusal(410, 'Expired', message);
/** A JSON patch that does not apply: the real one says no more than this. */
export const doesNotApply = (): Refusal =>
  new Refusal(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

const words: Record<Problem['reason'], string> = {
  Required: 'Required value',
  Invalid: 'Invalid value',
  NotSupported: 'Unsupported value',
  Forbidden: 'Forbidden',
  Duplicate: 'Duplicate value',
  TooLong: 'Too long',
  TooMany: 'Too many',
  TypeInvalid: 'Invalid value',
};

export interface Subject {
  kind: string;
  group: string;
  name: string;
}

export function invalid({ kind, group, name }: Subject, problems: readonly Problem[]): Refusal {
  const said = problems.map(({ reason, say }) => (say ? `${words[reason]}: ${say}` : words[reason]));
  const list = problems.map(({ field }, i) => `${field}: ${said[i]}`);
  const message = list.length === 1 ? list[0] : `[${list.join(', ')}]`;
  const causes = problems.map(({ field, reason }, i) => ({ reason: `FieldValue${reason}`, message: said[i]!, field }));
  const what = group ? `${kind}.${group}` : kind;
  const details = { ...(name && { name }), ...(group && { group }), kind, causes };
  return new Refusal(422, 'Invalid', `${what} "${name}" is invalid: ${message}`, details);
}

export const problem = (field: string, reason: Problem['reason'], say = ''): Problem => ({ field, reason, say });
/** "Invalid value: VALUE: WHY" */
export const wrong = (field: string, value: unknown, why: string): Problem =>
  problem(field, 'Invalid', `${JSON.stringify(value ?? null)}: ${why}`);
export const unsupported = (field: string, value: unknown, supported: readonly string[]): Problem =>
  problem(
    field,
    'NotSupported',
    `${JSON.stringify(value)}: supported values: ${supported.map((one) => `"${one}"`).join(', ')}`,
  );
