import type { Identity } from './access.ts';
import { apiVersionOf, type KindRow } from './kinds.ts';
import { type Answer, isTree, stamp, text, type Tree, tree } from './model.ts';
import { invalid, type Problem, wrong } from './refusal.ts';

const noRules = 'there is no authorization in the simulated API server: everybody may do everything';

/** Questions that are answered and forgotten. */
export function review(row: KindRow, body: Tree, who: Identity, nowMs: number): Answer {
  const head = { kind: row.kind, apiVersion: apiVersionOf(row) };
  if (row.kind === 'SelfSubjectReview') {
    const status = { userInfo: { ...who, groups: [...who.groups] } };
    return { status: 201, body: { ...head, metadata: { creationTimestamp: stamp(nowMs) }, status } };
  }
  const spec = tree(body['spec']);
  const problems = [...checkAttributes(spec), ...(row.kind === 'SubjectAccessReview' ? checkSubject(spec) : [])];
  if (problems.length > 0) throw invalid({ kind: '', group: row.group, name: '' }, problems);
  return { status: 201, body: { ...head, metadata: {}, spec, status: { allowed: true, reason: noRules } } };
}

const checkAttributes = ({ resourceAttributes, nonResourceAttributes }: Tree): Problem[] =>
  isTree(resourceAttributes) !== isTree(nonResourceAttributes)
    ? []
    : [
        wrong(
          'spec.resourceAttributes',
          null,
          'exactly one of nonResourceAttributes or resourceAttributes must be specified',
        ),
      ];

const checkSubject = ({ user, groups }: Tree): Problem[] =>
  text(user) || (Array.isArray(groups) && groups.length > 0)
    ? []
    : [wrong('spec.user', '', 'at least one of user or group must be specified')];
