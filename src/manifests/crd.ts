import { z } from 'zod';
import { noticeSpecSchema, noticeStatusSchema } from '../kube/notice.ts';
import { group, remediationKind, remediationSpecSchema, remediationStatusSchema } from '../kube/remediation.ts';
import { resources, type Kind } from '../kube/resources.ts';
import { approvalRules, blockRules, decidableRule, immutableBut, phaseRule } from './crd-rules.ts';
import type { ActionRow, Manifest } from './manifest.ts';
import { structuralSchema, type Schema } from './structural.ts';

interface Column {
  name: string;
  type: 'string' | 'date';
  jsonPath: string;
}

const column = (name: string, jsonPath: string, type: Column['type'] = 'string'): Column => ({ name, type, jsonPath });
const age = column('AGE', '.metadata.creationTimestamp', 'date');

const remediationColumns = [
  column('TYPE', '.spec.action.type'),
  column('TARGET', '.spec.incident.object.name'),
  column('PHASE', '.status.phase'),
  column('APPROVAL', '.spec.approval.state'),
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

/** The action is the one part of the spec that is put together here, from each action's own params. */
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
