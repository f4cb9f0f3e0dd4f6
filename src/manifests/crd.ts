import { z } from 'zod';
import { noticeSpecSchema, noticeStatusSchema } from '../kube/notice.ts';
import {
  group,
  remediationKind,
  remediationSpecSchema,
  remediationStatusSchema,
  transitions,
} from '../kube/remediation.ts';
import { type Kind, resources } from '../kube/resources.ts';
import type { ActionRow, Manifest } from './manifest.ts';
import { type CelRule, type Schema, structuralSchema } from './structural.ts';

/**
 * Everything in `spec` but the approval stays as it was created; adding or removing an optional field counts as a
 * change.
 */
function immutableBut(free: string, spec: Schema): CelRule[] {
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

const approvalRules: CelRule[] = [
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
const blockRules = (actions: readonly ActionRow[]): CelRule[] =>
  actions.map(({ type, block }) => ({
    rule: `(self.type == '${type}') == has(self.${block})`,
    message: `spec.action.${block} is required by type ${type} and belongs to no other type`,
  }));

const phaseOf = (object: string) =>
  `(has(${object}.status) && has(${object}.status.phase) ? ${object}.status.phase : '')`;

/** At root level, because the spec does not see the status: once it has left Proposed, there is nothing to decide. */
function decidableRule(): CelRule {
  const phase = phaseOf('oldSelf');
  return {
    rule: `self.spec.approval == oldSelf.spec.approval || ${phase} in ['', 'Proposed']`,
    messageExpression: `'there is nothing to decide any more: it is ' + ${phase}`,
    message: 'there is nothing to decide any more',
  };
}

/** At root level, because a rule on `status` would not see its first write or its removal. */
function phaseRule(): CelRule {
  const before = phaseOf('oldSelf');
  const after = phaseOf('self');
  const moves = Object.entries(transitions).flatMap(([from, targets]) => targets.map((to) => `'${from}>${to}'`));
  return {
    rule: `${before} == ${after} || (${before} + '>' + ${after}) in [${moves.join(', ')}]`,
    messageExpression: `'status.phase cannot go from "' + ${before} + '" to "' + ${after} + '"'`,
    message: 'status.phase cannot make this move',
  };
}

interface Column {
  name: string;
  type: 'string' | 'date';
  jsonPath: string;
}

const column = (name: string, jsonPath: string, type: Column['type'] = 'string'): Column => ({ name, type, jsonPath });
const age = column('AGE', '.metadata.creationTimestamp', 'date');

/** A column has one path and no second one: SEVERITY is the first severity, which every record has. */
const remediationColumns = [
  column('CLASS', '.spec.incident.class'),
  column('SEVERITY', '.spec.incident.severity'),
  column('TARGET', '.spec.incident.object.name'),
  column('ACTION', '.spec.action.type'),
  column('PHASE', '.status.phase'),
  column('READY', '.status.sightings.readiness'),
  column('BY', '.spec.approval.by'),
  age,
];

const noticeColumns = [
  column('CHANNEL', '.spec.channel'),
  column('FORM', '.spec.form'),
  column('POSTED', '.status.postedAt', 'date'),
  age,
];

/** Both CustomResourceDefinitions, from the same schemas as the TypeScript types. */
export function customResourceDefinitions(actions: readonly ActionRow[]): Manifest[] {
  const notice = root(structuralSchema(noticeSpecSchema), structuralSchema(noticeStatusSchema));
  return [
    definition(remediationKind, ['fix', 'rem'], remediationColumns, remediationSchema(actions)),
    definition('Notice', [], noticeColumns, notice),
  ];
}

/** The action is the only part of the spec that is built here, from each action's own params. */
function remediationSchema(actions: readonly ActionRow[]): Schema {
  const spec = structuralSchema(remediationSpecSchema);
  const { approval, ...others } = spec.properties ?? {};
  spec.properties = {
    ...others,
    action: actionSchema(actions),
    approval: { ...approval, 'x-kubernetes-validations': approvalRules },
  };
  spec['x-kubernetes-validations'] = immutableBut('approval', spec);
  return {
    ...root(spec, structuralSchema(remediationStatusSchema)),
    'x-kubernetes-validations': [phaseRule(), decidableRule()],
  };
}

function actionSchema(actions: readonly ActionRow[]): Schema {
  const blocks = Object.fromEntries(actions.map(({ block, params }) => [block, structuralSchema(params)]));
  return {
    type: 'object',
    properties: { type: structuralSchema(z.enum(actions.map(({ type }) => type))), ...blocks },
    required: ['type'],
    'x-kubernetes-validations': blockRules(actions),
  };
}

const root = (spec: Schema, status: Schema): Schema => ({
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec,
    status,
  },
  required: ['spec'],
});

function definition(kind: Kind, shortNames: string[], columns: Column[], schema: Schema): Manifest {
  const { plural, version: name } = resources[kind];
  const singular = kind.toLowerCase();
  const version = {
    name,
    served: true,
    storage: true,
    subresources: { status: {} },
    additionalPrinterColumns: columns,
    schema: { openAPIV3Schema: schema },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular, ...(shortNames.length > 0 && { shortNames }) },
      versions: [version],
    },
  };
}
