import { mediaTypeOf, parseJson } from './decode.ts';
import { jsonPatch } from './json-patch.ts';
import { apiVersionOf, type KindRow } from './kinds.ts';
import { mergePatch } from './merge-patch.ts';
import { wrongType } from './metadata.ts';
import { isTree, type Request, type Tree } from './model.ts';
import { invalid, Refusal, wrong } from './refusal.ts';
import { wrongShape } from './shapes.ts';

type Apply = (target: Tree, patch: unknown) => unknown;

const patches: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  ['application/json-patch+json', jsonPatch],
  ['application/merge-patch+json', mergePatch],
]);

/** The object as the patch in this request would have it. */
export function patchOf(request: Request, row: KindRow, current: Tree): Tree {
  const apply = patches.get(mediaTypeOf(request));
  if (!apply) throw new Refusal(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  const asked = apply(
    current,
    parseJson(request.body, (why) => `error decoding patch: ${why}`),
  );
  const problem = isTree(asked)
    ? (otherKind(asked, row) ?? wrongType(asked) ?? wrongShape(asked, row.kind))
    : 'it is no object any more';
  if (problem) throw invalid({ kind: '', group: '', name: '' }, [wrong('patch', JSON.stringify(asked), problem)]);
  return asked as Tree;
}

function otherKind({ apiVersion, kind }: Tree, row: KindRow): string | undefined {
  const isSame =
    [undefined, apiVersionOf(row)].includes(apiVersion as string) && [undefined, row.kind].includes(kind as string);
  return isSame ? undefined : 'its kind cannot be changed';
}
