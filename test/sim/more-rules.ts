import { sameValue } from '../../src/lib/hash.ts';
import { type FieldProblem, problem, unsupported, wrong } from '../../src/sim/api/http-refusals.ts';
import { type Obj, text, type Tree, tree } from '../../src/sim/api/model.ts';
import type { KindRules } from '../../src/sim/kinds/kinds.ts';
import { checkPodSpec, rolling, templateDefaults, workload } from '../../src/sim/kinds/workload-rules.ts';

export const daemonSetRules = workload(
  (spec) => ({
    revisionHistoryLimit: 10,
    ...spec,
    updateStrategy: rolling(spec['updateStrategy'], { maxUnavailable: 1, maxSurge: 0 }),
  }),
  { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
);

const keep = { whenDeleted: 'Retain', whenScaled: 'Retain' };
const mayChange = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

export const statefulSetRules: KindRules = {
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

export const autoscalerRules: KindRules = {
  born: (object) => ({ ...object, status: { desiredReplicas: 0, currentMetrics: null } }),
  defaults: ({ spec = {}, ...object }) => ({ ...object, spec: { minReplicas: 1, ...spec } }) as Obj,
  check: ({ spec = {} }) =>
    Number(spec['maxReplicas']) >= 1
      ? []
      : [wrong('spec.maxReplicas', spec['maxReplicas'] ?? 0, 'must be greater than 0')],
};

export const claimRules: KindRules = {
  born: (object) => ({ ...object, status: { phase: 'Pending' } }),
  defaults: ({ spec = {}, ...object }) => ({ ...object, spec: { volumeMode: 'Filesystem', ...spec } }) as Obj,
  check: ({ spec = {} }) => [
    ...(Array.isArray(spec['accessModes']) && spec['accessModes'].length > 0
      ? []
      : [problem('spec.accessModes', 'Required', 'at least 1 access mode is required')]),
    ...(tree(tree(spec['resources'])['requests'])['storage'] === undefined
      ? [problem('spec.resources[storage]', 'Required')]
      : []),
  ],
};

const jobDefaults: Tree = {
  backoffLimit: 6,
  completionMode: 'NonIndexed',
  suspend: false,
  podReplacementPolicy: 'TerminatingOrFailed',
};

/** A Job has no default restart policy; it must state one. */
function jobTemplate(template: unknown): Tree {
  const filled = templateDefaults(template);
  const { restartPolicy } = tree(tree(template)['spec']);
  return { ...filled, spec: { ...tree(filled['spec']), restartPolicy } };
}

function jobSpec(spec: Tree): Tree {
  const { parallelism, completions } = spec;
  // One run is the default only if both are missing; missing completions alone mean "until one succeeds".
  const runs = parallelism === undefined && completions === undefined ? { completions: 1 } : {};
  return { parallelism: 1, ...runs, ...jobDefaults, ...spec, template: jobTemplate(spec['template']) };
}

function checkJobSpec(spec: Tree, path: string): FieldProblem[] {
  const podSpec = tree(tree(spec['template'])['spec']);
  const here = `${path}.template.spec`;
  const policy = text(podSpec['restartPolicy']);
  const allowed = ['OnFailure', 'Never'];
  if (!policy) return [problem(`${here}.restartPolicy`, 'Required', 'valid values: "OnFailure", "Never"')];
  const problems = checkPodSpec(podSpec, here);
  return allowed.includes(policy) ? problems : [...problems, unsupported(`${here}.restartPolicy`, policy, allowed)];
}

/** A Job selects its pods by its own uid. */
function withSelector(object: Obj): Obj {
  const { metadata, spec = {} } = object;
  const { metadata: meta, ...template } = tree(spec['template']);
  if (spec['manualSelector'] === true) return object;
  const own = {
    'batch.kubernetes.io/controller-uid': metadata.uid,
    'batch.kubernetes.io/job-name': metadata.name,
    'controller-uid': metadata.uid,
    'job-name': metadata.name,
  };
  const labelled = { ...tree(meta), labels: { ...tree(tree(meta)['labels']), ...own } };
  const selector = { matchLabels: { 'batch.kubernetes.io/controller-uid': metadata.uid } };
  return {
    ...object,
    spec: { manualSelector: false, ...spec, selector, template: { ...template, metadata: labelled } },
  };
}

export const jobRules: KindRules = {
  born: (object) => ({ ...withSelector(object), status: {} }),
  defaults: (object) => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...templateLabels(object), ...object.metadata.labels } },
    spec: jobSpec(object.spec ?? {}),
  }),
  check: ({ spec = {} }) => checkJobSpec(spec, 'spec'),
};

/** A Job without labels gets those of its template. */
const templateLabels = ({ metadata, spec }: Obj): Record<string, string> =>
  metadata.labels ? {} : (tree(tree(tree(spec?.['template'])['metadata'])['labels']) as Record<string, string>);

export const cronJobRules: KindRules = {
  born: (object) => ({ ...object, status: {} }),
  defaults({ spec = {}, ...object }) {
    const { metadata, spec: job } = tree(spec['jobTemplate']);
    const filled = { ...tree(job), template: jobTemplate(tree(job)['template']) };
    const defaults = {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    };
    return {
      ...object,
      spec: { ...defaults, ...spec, jobTemplate: { metadata: tree(metadata), spec: filled } },
    } as Obj;
  },
  check: ({ spec = {} }) => [
    ...(text(spec['schedule']) ? [] : [problem('spec.schedule', 'Required')]),
    ...checkJobSpec(tree(tree(spec['jobTemplate'])['spec']), 'spec.jobTemplate.spec'),
  ],
};
