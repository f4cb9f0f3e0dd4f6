import type { KindRow } from './kinds.ts';
import { at, type Obj } from './model.ts';
import { badRequest } from './refusal.ts';

const everywhere = ['metadata.name', 'metadata.namespace'];

/** "a=b,c!=d" as a question; a field that cannot be selected by is the 400 of the real one. */
export function parseFieldSelector(selector: string, row: KindRow): (object: Obj) => boolean {
  const terms = selector
    .split(',')
    .filter(Boolean)
    .map((term) => parsed(term, selector));
  for (const { field } of terms) mustBeKnown(field, row);
  return (object) => terms.every(({ field, value, isWanted }) => (valueOf(object, field) === value) === isWanted);
}

function parsed(term: string, selector: string): { field: string; value: string; isWanted: boolean } {
  const [, field, operator, value] = /^([^=!]+)(==|!=|=)(.*)$/s.exec(term) ?? [];
  if (field === undefined) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
  return { field, value: value ?? '', isWanted: operator !== '!=' };
}

function mustBeKnown(field: string, { fields }: KindRow): void {
  if (everywhere.includes(field) || fields?.includes(field)) return;
  throw badRequest(
    fields
      ? `field label not supported: ${field}`
      : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

function valueOf(object: Obj, field: string): string {
  if (field === 'source') return String(at(object, 'source.component') ?? '');
  const value = at(object, field);
  // Of what is false or 0 the real one says so even where it is left out.
  if (value === undefined && (field === 'spec.unschedulable' || field === 'spec.hostNetwork')) return 'false';
  return value === undefined || value === null ? '' : String(value);
}
