import { sameValue } from '../../../lib/hash.ts';
import type { Rules } from '../kinds.ts';
import { count, isTree, type Obj, type Tree, tree } from '../model.ts';
import { type Problem, problem, unsupported, wrong } from '../refusal.ts';
import { picks } from '../selector.ts';
import { checkPodSpec } from './pod-checks.ts';
import { podSpecDefaults } from './pod-spec.ts';

export function templateDefaults(template: unknown): Tree {
  const { metadata, spec, ...rest } = tree(template);
  return { ...rest, metadata: tree(metadata), spec: podSpecDefaults(tree(spec)) };
}

const labelsOf = (template: unknown): Record<string, string> | undefined => {
  const { labels } = tree(tree(template)['metadata']);
  return isTree(labels) ? (labels as Record<string, string>) : undefined;
};

/** Common to all that keep pods of one template. */
function checkWorkload({ spec = {} }: Obj): Problem[] {
  const { selector, template, replicas } = spec;
  const podSpec = tree(tree(template)['spec']);
  const problems: Problem[] = [];
  if (count(replicas) < 0) problems.push(wrong('spec.replicas', replicas, 'must be greater than or equal to 0'));
  const isPicky = isTree(selector) && Object.keys(selector).length > 0;
  if (!isTree(selector)) problems.push(problem('spec.selector', 'Required'));
  else if (!isPicky) problems.push(wrong('spec.selector', selector, 'empty selector is invalid for deployment'));
  const labels = labelsOf(template);
  if (!isPicky || !picks(selector, labels ?? {}))
    problems.push(wrong('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  problems.push(...checkPodSpec(podSpec, 'spec.template.spec'));
  if (podSpec['restartPolicy'] !== 'Always')
    problems.push(unsupported('spec.template.spec.restartPolicy', podSpec['restartPolicy'], ['Always']));
  return problems;
}

const sameSelector = (before: Obj, after: Obj): Problem[] =>
  sameValue(before.spec?.['selector'], after.spec?.['selector'])
    ? []
    : [wrong('spec.selector', after.spec?.['selector'], 'field is immutable')];

const workload = (defaults: (spec: Tree) => Tree, status: Tree): Rules => ({
  born: (object) => ({ ...object, status }),
  defaults({ spec = {}, ...object }) {
    const template = templateDefaults(spec['template']);
    return { ...object, spec: { ...defaults(spec), template } } as Obj;
  },
  check: checkWorkload,
  checkChange: sameSelector,
});

function rolling(asked: unknown, defaults: Tree): Tree {
  const { type = 'RollingUpdate', rollingUpdate, ...rest } = tree(asked);
  if (type !== 'RollingUpdate') return { ...rest, type };
  return { ...rest, type, rollingUpdate: { ...defaults, ...tree(rollingUpdate) } };
}

const quarter = { maxUnavailable: '25%', maxSurge: '25%' };

export const deploymentRules = workload(
  (spec) => ({
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    ...spec,
    strategy: rolling(spec['strategy'], quarter),
  }),
  {},
);

export const replicaSetRules = workload((spec) => ({ replicas: 1, ...spec }), { replicas: 0 });

export const daemonSetRules = workload(
  (spec) => ({
    revisionHistoryLimit: 10,
    ...spec,
    updateStrategy: rolling(spec['updateStrategy'], { maxUnavailable: 1, maxSurge: 0 }),
  }),
  { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
);

const keep = { whenDeleted: 'Retain', whenScaled: 'Retain' };
const mayChange = ['replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy', 'minReadySeconds']; // prettier-ignore

export const statefulSetRules: Rules = {
  ...workload(
    (spec) => ({
      replicas: 1,
      serviceName: '',
      podManagementPolicy: 'OrderedReady',
      revisionHistoryLimit: 10,
      persistentVolumeClaimRetentionPolicy: keep,
      ...spec,
      updateStrategy: rolling(spec['updateStrategy'], { partition: 0 }),
    }),
    { replicas: 0, availableReplicas: 0 },
  ),
  checkChange(before, after) {
    const fixed = ({ spec = {} }: Obj): Tree =>
      Object.fromEntries(Object.entries(spec).filter(([field]) => !mayChange.includes(field)));
    if (sameValue(fixed(before), fixed(after))) return [];
    const fields = mayChange.map((field) => `'${field}'`);
    const why = `updates to statefulset spec for fields other than ${fields.slice(0, -1).join(', ')} and ${fields.at(-1)} are forbidden`;
    return [problem('spec', 'Forbidden', why)];
  },
};
