/** The place in the API of a kind that tapfix uses. */
export interface Resource {
  readonly group: string; // '' is core
  readonly version: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const core = (plural: string, namespaced = true): Resource => ({ group: '', version: 'v1', plural, namespaced });
const apps = (plural: string): Resource => ({ group: 'apps', version: 'v1', plural, namespaced: true });

const touched = {
  Event: core('events'),
  Pod: core('pods'),
  ResourceQuota: core('resourcequotas'),
  LimitRange: core('limitranges'),
  PersistentVolumeClaim: core('persistentvolumeclaims'),
  Namespace: core('namespaces', false),
  Node: core('nodes', false),
  Deployment: apps('deployments'),
  ReplicaSet: apps('replicasets'),
  StatefulSet: apps('statefulsets'),
  DaemonSet: apps('daemonsets'),
  ControllerRevision: apps('controllerrevisions'),
  Job: { group: 'batch', version: 'v1', plural: 'jobs', namespaced: true },
  CronJob: { group: 'batch', version: 'v1', plural: 'cronjobs', namespaced: true },
  HorizontalPodAutoscaler: {
    group: 'autoscaling',
    version: 'v2',
    plural: 'horizontalpodautoscalers',
    namespaced: true,
  },
  StorageClass: { group: 'storage.k8s.io', version: 'v1', plural: 'storageclasses', namespaced: false },
  PodDisruptionBudget: { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', namespaced: true },
  Service: core('services'),
  NetworkPolicy: { group: 'networking.k8s.io', version: 'v1', plural: 'networkpolicies', namespaced: true },
  RoleBinding: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'rolebindings', namespaced: true },
  ServiceAccount: core('serviceaccounts'),
  Remediation: { group: 'tapfix.dev', version: 'v1alpha1', plural: 'remediations', namespaced: true },
  Notice: { group: 'tapfix.dev', version: 'v1alpha1', plural: 'notices', namespaced: true },
  SelfSubjectReview: { group: 'authentication.k8s.io', version: 'v1', plural: 'selfsubjectreviews', namespaced: false },
  SubjectAccessReview: {
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'subjectaccessreviews',
    namespaced: false,
  },
} as const satisfies Record<string, Resource>;

const cluster = (group: string, plural: string, version = 'v1'): Resource => ({
  group,
  version,
  plural,
  namespaced: false,
});
const rbac = 'rbac.authorization.k8s.io';
const admission = 'admissionregistration.k8s.io';

/** The other kinds that an installation consists of. The installer creates them; they are never watched. */
const installed = {
  ConfigMap: core('configmaps'),
  Lease: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true },
  Role: { group: rbac, version: 'v1', plural: 'roles', namespaced: true },
  ClusterRole: cluster(rbac, 'clusterroles'),
  ClusterRoleBinding: cluster(rbac, 'clusterrolebindings'),
  CustomResourceDefinition: cluster('apiextensions.k8s.io', 'customresourcedefinitions'),
  ValidatingAdmissionPolicy: cluster(admission, 'validatingadmissionpolicies'),
  ValidatingAdmissionPolicyBinding: cluster(admission, 'validatingadmissionpolicybindings'),
  MutatingAdmissionPolicy: cluster(admission, 'mutatingadmissionpolicies'),
  MutatingAdmissionPolicyBinding: cluster(admission, 'mutatingadmissionpolicybindings'),
} as const satisfies Record<string, Resource>;

export const resources = { ...touched, ...installed } as const;

export type Kind = keyof typeof resources;

/** Kinds that tapfix reads: an incident may be about one. */
export const isKnownKind = (kind: string): kind is keyof typeof touched => Object.hasOwn(touched, kind);

export const isKind = (kind: string): kind is Kind => Object.hasOwn(resources, kind);

/**
 * The kind. If it has the name of one of our kinds but another API group, the group is appended, as kubectl writes it:
 * StatefulSet.apps.kruise.io
 */
export function qualifiedKind(kind: string, apiVersion: string): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  if (!apiVersion || !isKnownKind(kind) || resources[kind].group === group) return kind;
  return `${kind}.${group || 'core'}`;
}

export const apiVersionOf = (kind: Kind): string => {
  const { group, version } = resources[kind];
  return group ? `${group}/${version}` : version;
};

/** One object, or one of its subresources. */
export interface Ref {
  kind: Kind;
  namespace?: string;
  name: string;
  subresource?: string;
}

/** The path of a collection, or with a name of one object. */
export function pathOf(kind: Kind, namespace?: string, name?: string, subresource?: string): string {
  const { group, version, plural, namespaced } = resources[kind];
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`;
  const scope = namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const object = name ? `/${encodeURIComponent(name)}` : '';
  return `${root}${scope}/${plural}${object}${subresource ? `/${subresource}` : ''}`;
}
