import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { type Schema, structuralSchema } from '../../../src/manifests/structural.ts';

const schemas: [string, z.ZodType, Schema | RegExp][] = [
  ['a literal becomes an enum', z.literal('Deployment'), { type: 'string', enum: ['Deployment'] }],
  ['a strict object loses the word for "no others"', z.strictObject({}), { type: 'object', properties: {} }],
  [
    'two patterns stay two, without a type of their own',
    z.string().regex(/^a/).regex(/b$/),
    { type: 'string', allOf: [{ pattern: '^a' }, { pattern: 'b$' }] },
  ],
  [
    'a union is refused, with its path',
    z.object({ a: z.union([z.string(), z.number()]) }),
    /^Error: \.a: "anyOf" cannot/,
  ],
  ['a record is refused', z.object({ a: z.record(z.string(), z.string()) }), /^Error: \.a: "\w+" cannot/],
];

for (const [name, schema, want] of schemas) {
  test(name, () => {
    if (want instanceof RegExp) assert.throws(() => structuralSchema(schema), want);
    else assert.deepEqual(structuralSchema(schema), want);
  });
}
