import { transitions } from '../kube/remediation.ts';
import type { ActionRow } from './manifest.ts';
import type { CelRule, Schema } from './structural.ts';

/** Everything in `spec` but the approval stays as it was created; adding or removing an optional field counts. */
export function immutableBut(free: string, spec: Schema): CelRule[] {
  const required = new Set(spec.required);
  return Object.keys(spec.properties ?? {})
    .filter((field) => field !== free)
    .map((field) => ({
      rule: required.has(field)
        ? `self.${field} == oldSelf.${field}`
        : `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
      message: `spec.${field} cannot be changed after creation`,
    }));
}

export const approvalRules: CelRule[] = [
  {
    rule: "oldSelf.state == 'Pending' || self == oldSelf",
    messageExpression:
      "'already ' + oldSelf.state + (has(oldSelf.by) ? ' by ' + oldSelf.by : '') + ': a decision is made once and then stays'",
    message: 'already decided: a decision is made once and then stays',
  },
  {
    rule: "self.state == 'Pending' || (has(self.by) && self.by != '')",
    message: 'a decision must say whose it is: spec.approval.by is empty',
  },
  {
    rule: "self.state != 'Pending' || !has(self.by)",
    message: 'spec.approval.by is set together with a decision, not before it',
  },
];

/** Exactly the params block of the type, and no other. */
export const blockRules = (actions: readonly ActionRow[]): CelRule[] =>
  actions.map(({ type, block }) => ({
    rule: `(self.type == '${type}') == has(self.${block})`,
    message: `spec.action.${block} is required by type ${type} and belongs to no other type`,
  }));

const phaseOf = (object: string) =>
  `(has(${object}.status) && has(${object}.status.phase) ? ${object}.status.phase : '')`;

/** Root level, because the spec does not see the status: once something became of it, there is nothing to decide. */
export function decidableRule(): CelRule {
  const phase = phaseOf('oldSelf');
  return {
    rule: `self.spec.approval == oldSelf.spec.approval || ${phase} in ['', 'Proposed']`,
    messageExpression: `'there is nothing to decide any more: it is ' + ${phase}`,
    message: 'there is nothing to decide any more',
  };
}

/** Root level, because a rule on `status` would not see its first writing or its removal. */
export function phaseRule(): CelRule {
  const before = phaseOf('oldSelf');
  const after = phaseOf('self');
  const moves = Object.entries(transitions).flatMap(([from, targets]) => targets.map((to) => `'${from}>${to}'`));
  return {
    rule: `${before} == ${after} || (${before} + '>' + ${after}) in [${moves.join(', ')}]`,
    messageExpression: `'status.phase cannot go from "' + ${before} + '" to "' + ${after} + '"'`,
    message: 'status.phase cannot make this move',
  };
}
