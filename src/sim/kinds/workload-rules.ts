import { sameValue } from '../../lib/hash.ts';
import { canonicalQuantity, formatQuantity, parseQuantity } from '../api/exact-quantity.ts';
import { type FieldProblem, problem, unsupported, wrong } from '../api/http-refusals.ts';
import { count, isTree, type Obj, text, type Tree, tree, trees } from '../api/model.ts';
import { picks } from '../api/selectors.ts';
import type { KindRules } from './kinds.ts';

/** How long a pod stays on a node that is not ready or unreachable. */
const tolerations = ['not-ready', 'unreachable'].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

export const podRules: KindRules = {
  born(object) {
    const { spec = {} } = object;
    const tolerated = trees(spec['tolerations']);
    const added = tolerations.filter(({ key, effect }) => !tolerated.some((own) => toleratesAs(own, key, effect)));
    const asked = {
      enableServiceLinks: true,
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
      serviceAccountName: 'default',
      ...spec,
      tolerations: [...tolerated, ...added],
      ...(Array.isArray(spec['containers']) && { containers: trees(spec['containers']).map(requestsFromLimits) }),
      ...(Array.isArray(spec['initContainers']) && {
        initContainers: trees(spec['initContainers']).map(requestsFromLimits),
      }),
    };
    return { ...object, spec: asked, status: { phase: 'Pending', qosClass: qosClass(asked) } };
  },
  defaults: (object) => ({ ...object, spec: podSpecDefaults(object.spec ?? {}) }),
  check: ({ spec = {} }) => checkPodSpec(spec, 'spec'),
  checkChange: (before, after) => checkPodChange(before, after),
};

const toleratesAs = ({ key, effect, operator }: Tree, wanted: string, of: string): boolean =>
  (key === wanted || (!key && operator === 'Exists')) && (effect === undefined || effect === of);

/** A limit without a request is also the request. */
function requestsFromLimits(container: Tree): Tree {
  const { limits, requests, ...others } = tree(container['resources']);
  if (!isTree(limits)) return container;
  return { ...container, resources: { ...others, limits, requests: { ...limits, ...tree(requests) } } };
}

export function qosClass(spec: Tree): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const amounts = [...trees(spec['containers']), ...trees(spec['initContainers'])].map(({ resources }) => {
    const { requests, limits } = tree(resources);
    return { requests: tree(requests), limits: tree(limits) };
  });
  const states = (part: Tree): boolean => ['cpu', 'memory'].some((name) => part[name] !== undefined);
  if (!amounts.some(({ requests, limits }) => states(requests) || states(limits))) return 'BestEffort';
  const isEqual = (a: unknown, b: unknown): boolean =>
    b !== undefined && parseQuantity(a)?.nano === parseQuantity(b)?.nano;
  const isFull = amounts.every(({ requests, limits }) =>
    ['cpu', 'memory'].every((name) => isEqual(requests[name] ?? limits[name], limits[name])),
  );
  return isFull ? 'Guaranteed' : 'Burstable';
}

const mayChange =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function checkPodChange(before: Obj, after: Obj): FieldProblem[] {
  const fixed = ({ spec = {} }: Obj): Tree => {
    const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, containers, initContainers, ...rest } = spec;
    const withoutImages = (list: unknown): Tree[] =>
      trees(list).map(({ image: _image, imagePullPolicy: _policy, ...container }) => container);
    return { ...rest, containers: withoutImages(containers), initContainers: withoutImages(initContainers) };
  };
  if (sameValue(fixed(before), fixed(after))) return [];
  return [problem('spec', 'Forbidden', `pod updates may not change fields other than ${mayChange}`)];
}

const specDefaults: Tree = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};
const containerDefaults: Tree = {
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
};
const probeDefaults: Tree = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'];

/** Adds the API server's defaults to a pod spec, so that two templates with the same meaning are equal. */
function podSpecDefaults(spec: Tree): Tree {
  const { containers, initContainers, volumes, serviceAccountName } = spec;
  return {
    ...specDefaults,
    ...spec,
    ...(serviceAccountName !== undefined && { serviceAccount: serviceAccountName }),
    ...(Array.isArray(containers) && { containers: trees(containers).map(container) }),
    ...(Array.isArray(initContainers) && { initContainers: trees(initContainers).map(container) }),
    ...(Array.isArray(volumes) && { volumes: trees(volumes).map(volume) }),
  };
}

function container(asked: Tree): Tree {
  const filled: Tree = { ...containerDefaults, imagePullPolicy: pullPolicy(asked['image']), ...asked };
  if (Array.isArray(asked['ports']))
    filled['ports'] = trees(asked['ports']).map((port) => ({ protocol: 'TCP', ...port }));
  for (const name of probes) if (isTree(asked[name])) filled[name] = probe(asked[name]);
  filled['resources'] = resources(tree(filled['resources']));
  return filled;
}

function pullPolicy(image: unknown): string {
  const [, tag = 'latest'] = /:([^:/@]+)$/.exec(String(image ?? '').split('@')[0]!) ?? [];
  return tag === 'latest' && !String(image).includes('@') ? 'Always' : 'IfNotPresent';
}

function probe(asked: Tree): Tree {
  const { httpGet } = asked;
  return { ...probeDefaults, ...asked, ...(isTree(httpGet) && { httpGet: { path: '/', scheme: 'HTTP', ...httpGet } }) };
}

function resources(asked: Tree): Tree {
  const written = (amounts: Tree): Tree =>
    Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, canonicalQuantity(amount)]));
  const parts = Object.entries(asked).map(([part, value]) => [part, isTree(value) ? written(value) : value]);
  return Object.fromEntries(parts) as Tree;
}

function volume(asked: Tree): Tree {
  const filled = { ...asked };
  for (const source of ['configMap', 'secret', 'projected', 'downwardAPI'])
    if (isTree(asked[source])) filled[source] = { defaultMode: 420, ...asked[source] };
  return filled;
}

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const labelName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** The problems in the spec of a pod or of a pod template. */
export function checkPodSpec(spec: Tree, path: string): FieldProblem[] {
  const containers = trees(spec['containers']);
  const policy = spec['restartPolicy'];
  return [
    ...(containers.length === 0
      ? [problem(`${path}.containers`, 'Required')]
      : checkContainers(containers, `${path}.containers`)),
    ...checkContainers(trees(spec['initContainers']), `${path}.initContainers`),
    ...['resources', 'overhead']
      .filter((field) => spec[field] !== undefined)
      .map((field) => problem(`${path}.${field}`, 'Forbidden', 'the simulated API server has none')),
    ...(restartPolicies.includes(text(policy)) ? [] : [unsupported(`${path}.restartPolicy`, policy, restartPolicies)]),
  ];
}

function checkContainers(containers: readonly Tree[], path: string): FieldProblem[] {
  const names = containers.map(({ name }) => text(name));
  return containers.flatMap((container, i) => {
    const here = `${path}[${i}]`;
    const name = names[i]!;
    const problems: FieldProblem[] = [];
    if (!name) problems.push(problem(`${here}.name`, 'Required'));
    else if (!labelName.test(name))
      problems.push(
        wrong(
          `${here}.name`,
          name,
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'",
        ),
      );
    else if (names.indexOf(name) < i) problems.push(problem(`${here}.name`, 'Duplicate', JSON.stringify(name)));
    if (!text(container['image'])) problems.push(problem(`${here}.image`, 'Required'));
    return [...problems, ...checkResources(tree(container['resources']), `${here}.resources`)];
  });
}

function checkResources({ requests, limits }: Tree, path: string): FieldProblem[] {
  return Object.entries(tree(requests)).flatMap(([name, amount]) => {
    const [wanted, most] = [parseQuantity(amount), parseQuantity(tree(limits)[name])];
    if (!wanted || !most || wanted.nano <= most.nano) return [];
    const why = `must be less than or equal to ${name} limit of ${formatQuantity(most)}`;
    return [wrong(`${path}.requests`, formatQuantity(wanted), why)];
  });
}

export function templateDefaults(template: unknown): Tree {
  const { metadata, spec, ...rest } = tree(template);
  return { ...rest, metadata: tree(metadata), spec: podSpecDefaults(tree(spec)) };
}

const labelsOf = (template: unknown): Record<string, string> | undefined => {
  const { labels } = tree(tree(template)['metadata']);
  return isTree(labels) ? (labels as Record<string, string>) : undefined;
};

/** The checks that all workloads with a pod template share. */
function checkWorkload({ spec = {} }: Obj): FieldProblem[] {
  const { selector, template, replicas } = spec;
  const podSpec = tree(tree(template)['spec']);
  const problems: FieldProblem[] = [];
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

const sameSelector = (before: Obj, after: Obj): FieldProblem[] =>
  sameValue(before.spec?.['selector'], after.spec?.['selector'])
    ? []
    : [wrong('spec.selector', after.spec?.['selector'], 'field is immutable')];

export const workload = (defaults: (spec: Tree) => Tree, status: Tree): KindRules => ({
  born: (object) => ({ ...object, status }),
  defaults({ spec = {}, ...object }) {
    const template = templateDefaults(spec['template']);
    return { ...object, spec: { ...defaults(spec), template } } as Obj;
  },
  check: checkWorkload,
  checkChange: sameSelector,
});

export function rolling(asked: unknown, defaults: Tree): Tree {
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
