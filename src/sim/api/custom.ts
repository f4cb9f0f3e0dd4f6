import type { Manifest } from '../../manifests/manifest.ts';
import type { Schema } from '../../manifests/structural.ts';
import type { KindRow, Rules } from './kinds.ts';
import type { Obj, Tree } from './model.ts';
import { checked, defaulted, pruned } from './schema.ts';

/** The parts of a CustomResourceDefinition that are honoured. Its CEL rules are not. */
interface Definition {
  group: string;
  scope: string;
  names: { kind: string; plural: string };
  versions: { name: string; subresources?: { status?: object }; schema: { openAPIV3Schema: Schema } }[];
}

/** One row per definition, of its first version. */
export const customKinds = (definitions: readonly Manifest[]): KindRow[] =>
  definitions.map(({ spec }) => {
    const { group, scope, names, versions } = spec as Definition;
    const [version] = versions;
    if (!version) throw new RangeError(`the definition of ${names.kind} has no version`);
    return {
      kind: names.kind,
      group,
      version: version.name,
      plural: names.plural,
      namespaced: scope === 'Namespaced',
      subresources: version.subresources?.status ? ['status'] : [],
      generation: 'spec',
      names: 'subdomain',
      custom: true,
      conditional: true,
      rules: rulesOf(version.schema.openAPIV3Schema),
    };
  });

const rulesOf = (schema: Schema): Rules => ({
  defaults({ apiVersion, kind, metadata, ...object }) {
    const content = defaulted(pruned(object, schema), schema) as Tree;
    return { apiVersion, kind, metadata, ...content } as Obj;
  },
  check: ({ metadata: _metadata, ...object }) => checked(object, schema, ''),
});
