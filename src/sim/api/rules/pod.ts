import { sameValue } from '../../../lib/hash.ts';
import type { Rules } from '../kinds.ts';
import { isTree, type Obj, type Tree, tree, trees } from '../model.ts';
import { parseQuantity } from '../quantity.ts';
import { type Problem, problem } from '../refusal.ts';
import { checkPodSpec } from './pod-checks.ts';
import { podSpecDefaults } from './pod-spec.ts';

/** How long a pod stays on a node that is in trouble. */
const tolerations = ['not-ready', 'unreachable'].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

export const podRules: Rules = {
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
    };
    return { ...object, spec: asked, status: { phase: 'Pending', qosClass: qosClass(asked) } };
  },
  defaults: (object) => ({ ...object, spec: podSpecDefaults(object.spec ?? {}) }),
  check: ({ spec = {} }) => checkPodSpec(spec, 'spec'),
  checkChange: (before, after) => checkPodChange(before, after),
};

const toleratesAs = ({ key, effect, operator }: Tree, wanted: string, of: string): boolean =>
  (key === wanted || (!key && operator === 'Exists')) && (effect === undefined || effect === of);

/** What is limited and not asked for is asked for in full. */
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

function checkPodChange(before: Obj, after: Obj): Problem[] {
  const fixed = ({ spec = {} }: Obj): Tree => {
    const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, containers, initContainers, ...rest } = spec;
    const withoutImages = (list: unknown): Tree[] =>
      trees(list).map(({ image: _image, imagePullPolicy: _policy, ...container }) => container);
    return { ...rest, containers: withoutImages(containers), initContainers: withoutImages(initContainers) };
  };
  if (sameValue(fixed(before), fixed(after))) return [];
  return [problem('spec', 'Forbidden', `pod updates may not change fields other than ${mayChange}`)];
}
