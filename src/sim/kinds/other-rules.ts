import { sameValue } from '../../lib/hash.ts';
import { canonicalQuantity, parseQuantity } from '../api/exact-quantity.ts';
import { type FieldProblem, problem, unsupported, wrong } from '../api/http-refusals.ts';
import { isTree, type Obj, text, type Tree, tree, trees } from '../api/model.ts';
import type { KindRules } from './kinds.ts';

export const namespaceRules: KindRules = {
  born: (object) => ({ ...object, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
  defaults({ metadata, ...object }) {
    const labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
    return { ...object, metadata: { ...metadata, labels } } as Obj;
  },
};

const blank: Tree = {
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
};

/** Events follow one of two conventions. The newer one sets eventTime and requires more fields. */
export const eventRules: KindRules = {
  defaults: (object) => ({ ...blank, ...object }) as Obj,
  check({ metadata, involvedObject, ...event }) {
    const about = text(tree(involvedObject)['namespace']);
    if (event['eventTime']) {
      const needed = ['reportingComponent', 'reportingInstance', 'action', 'reason'];
      return needed.filter((field) => !text(event[field])).map((field) => problem(field, 'Required'));
    }
    const isRight = about === metadata.namespace || (about === '' && metadata.namespace === 'default');
    return isRight ? [] : [wrong('involvedObject.namespace', about, 'does not match event.namespace')];
  },
};

const standard =
  /^(requests\.|limits\.|count\/)|^(pods|cpu|memory|ephemeral-storage|services|resourcequotas|persistentvolumeclaims|configmaps|secrets|replicationcontrollers|services\.(nodeports|loadbalancers))$|\//;
const scopes = ['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort'];

export const quotaRules: KindRules = {
  born: (object) => ({ ...object, status: {} }),
  defaults({ spec = {}, ...object }) {
    const hard = Object.fromEntries(
      Object.entries(tree(spec['hard'])).map(([name, amount]) => [name, canonicalQuantity(amount)]),
    );
    return { ...object, spec: { ...spec, ...(isTree(spec['hard']) && { hard }) } } as Obj;
  },
  check: ({ spec = {} }) => [
    ...Object.entries(tree(spec['hard'])).flatMap(([name, amount]) => checkHard(name, amount)),
    ...(Array.isArray(spec['scopes']) ? (spec['scopes'] as unknown[]) : [])
      .filter((scope) => !scopes.includes(text(scope)))
      .map((scope) => unsupported('spec.scopes', scope, scopes)),
    ...(spec['scopeSelector'] === undefined
      ? []
      : [problem('spec.scopeSelector', 'Forbidden', 'the simulated API server has none')]),
  ],
};

function checkHard(name: string, amount: unknown): FieldProblem[] {
  const field = `spec.hard[${name}]`;
  const parsed = parseQuantity(amount);
  return [
    ...(standard.test(name)
      ? []
      : [
          wrong(field, name, 'must be a standard resource type or fully qualified'),
          wrong(field, name, 'must be a standard resource for quota'),
        ]),
    ...(parsed && parsed.nano < 0n ? [wrong(field, String(amount), 'must be greater than or equal to 0')] : []),
  ];
}

export const budgetRules: KindRules = {
  born: (object) => ({
    ...object,
    status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  }),
  check: ({ spec = {} }) =>
    spec['minAvailable'] !== undefined && spec['maxUnavailable'] !== undefined
      ? [wrong('spec', spec, 'minAvailable and maxUnavailable cannot be both set')]
      : [],
};

const rbac = 'rbac.authorization.k8s.io';

export const roleBindingRules: KindRules = {
  defaults({ roleRef, subjects, ...object }) {
    const filled = trees(subjects).map((one) => (one['kind'] === 'ServiceAccount' ? one : { apiGroup: rbac, ...one }));
    const role = isTree(roleRef) ? { roleRef: { apiGroup: rbac, ...roleRef } } : {};
    return { ...object, ...(filled.length > 0 && { subjects: filled }), ...role } as Obj;
  },
  check({ roleRef, subjects }) {
    const { kind, name } = tree(roleRef);
    const problems: FieldProblem[] = [];
    if (!['Role', 'ClusterRole'].includes(text(kind)))
      problems.push(unsupported('roleRef.kind', text(kind), ['Role', 'ClusterRole']));
    if (!text(name)) problems.push(problem('roleRef.name', 'Required'));
    trees(subjects).forEach((one, i) => {
      if (!text(one['name'])) problems.push(problem(`subjects[${i}].name`, 'Required'));
      if (one['kind'] === 'ServiceAccount' && !text(one['namespace']))
        problems.push(problem(`subjects[${i}].namespace`, 'Required'));
    });
    return problems;
  },
  checkChange: (before, after) =>
    sameValue(before['roleRef'], after['roleRef']) ? [] : [wrong('roleRef', after['roleRef'], 'cannot change roleRef')],
};

const longestConfigMap = 1024 * 1024;

export const configMapRules: KindRules = {
  check: ({ data, binaryData }) =>
    JSON.stringify({ data, binaryData }).length > longestConfigMap
      ? [problem('[]', 'TooLong', `may not be more than ${longestConfigMap} bytes`)]
      : [],
};

export const nodeRules: KindRules = {
  born: (object) => ({ ...object, spec: object.spec ?? {}, status: object.status ?? {} }),
};
