import type { Rules } from '../kinds.ts';
import { type Obj, text, type Tree, tree } from '../model.ts';
import { type Problem, problem, unsupported } from '../refusal.ts';
import { checkPodSpec } from './pod-checks.ts';
import { templateDefaults } from './workloads.ts';

const jobDefaults: Tree = {
  backoffLimit: 6,
  completionMode: 'NonIndexed',
  suspend: false,
  podReplacementPolicy: 'TerminatingOrFailed',
};

/** A Job has no default for how its pods restart: it has to say. */
function jobTemplate(template: unknown): Tree {
  const filled = templateDefaults(template);
  const { restartPolicy } = tree(tree(template)['spec']);
  return { ...filled, spec: { ...tree(filled['spec']), restartPolicy } };
}

function jobSpec(spec: Tree): Tree {
  const { parallelism, completions } = spec;
  // Only both left out means one run; completions alone left out means "until one succeeds".
  const runs = parallelism === undefined && completions === undefined ? { completions: 1 } : {};
  return { parallelism: 1, ...runs, ...jobDefaults, ...spec, template: jobTemplate(spec['template']) };
}

function checkJobSpec(spec: Tree, path: string): Problem[] {
  const podSpec = tree(tree(spec['template'])['spec']);
  const here = `${path}.template.spec`;
  const policy = text(podSpec['restartPolicy']);
  const allowed = ['OnFailure', 'Never'];
  if (!policy) return [problem(`${here}.restartPolicy`, 'Required', 'valid values: "OnFailure", "Never"')];
  const problems = checkPodSpec(podSpec, here);
  return allowed.includes(policy) ? problems : [...problems, unsupported(`${here}.restartPolicy`, policy, allowed)];
}

/** The pods of a Job are known by its uid. */
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

export const jobRules: Rules = {
  born: (object) => ({ ...withSelector(object), status: {} }),
  defaults: (object) => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...templateLabels(object), ...object.metadata.labels } },
    spec: jobSpec(object.spec ?? {}),
  }),
  check: ({ spec = {} }) => checkJobSpec(spec, 'spec'),
};

/** A Job without labels of its own has those of its template. */
const templateLabels = ({ metadata, spec }: Obj): Record<string, string> =>
  metadata.labels ? {} : (tree(tree(tree(spec?.['template'])['metadata'])['labels']) as Record<string, string>);

export const cronJobRules: Rules = {
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
