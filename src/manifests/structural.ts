import { z } from 'zod';

/** An OpenAPI v3 schema as a CustomResourceDefinition accepts it. */
export interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  'x-kubernetes-validations'?: CelRule[];
  [keyword: string]: unknown;
}

export interface CelRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  fieldPath?: string;
}

/** https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema */
const plainKeywords = new Set(
  `type format enum pattern description default nullable required
  minLength maxLength minItems maxItems minProperties maxProperties
  minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
  x-kubernetes-list-type x-kubernetes-list-map-keys x-kubernetes-map-type`.split(/\s+/),
);

/** A zod schema in the keywords that an API server accepts; throws on anything that it could not enforce. */
export function structuralSchema(schema: z.ZodType): Schema {
  return structural(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' }) as Schema, '');
}

function structural(schema: Schema, path: string): Schema {
  const result: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties') result.properties = each(value as Record<string, Schema>, path);
    else if (keyword === 'items') result.items = structural(value as Schema, `${path}[]`);
    else if (keyword === 'allOf') result['allOf'] = (value as Schema[]).map(withoutType);
    else if (plainKeywords.has(keyword)) result[keyword] = value;
    // The API server prunes unknown fields, so `additionalProperties: false` is not needed, and is not allowed beside
    // properties.
    else if (keyword !== 'additionalProperties' || value !== false) {
      throw new Error(`${path || 'schema'}: "${keyword}" cannot stand in a CustomResourceDefinition`);
    }
  }
  return result;
}

const each = (properties: Record<string, Schema>, path: string): Record<string, Schema> =>
  Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, structural(one, `${path}.${name}`)]));

/** Several patterns of one string come as allOf; the type belongs outside. */
const withoutType = (schema: Schema): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== 'type'));
