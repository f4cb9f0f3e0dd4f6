import { type Resource, resources } from '../../kube/resources.ts';
import type { FieldProblem } from '../api/http-refusals.ts';
import { limitRangeRules } from '../api/limit-ranges.ts';
import type { Obj } from '../api/model.ts';
import {
  budgetRules,
  configMapRules,
  eventRules,
  namespaceRules,
  nodeRules,
  quotaRules,
  roleBindingRules,
} from './other-rules.ts';
import { deploymentRules, podRules, replicaSetRules } from './workload-rules.ts';

/** The rules that a kind has and a plain object does not. The functions are pure and do not change their arguments. */
export interface KindRules {
  /** Adds the first status, and whatever else the real server writes into every new object. */
  born?(object: Obj): Obj;
  /** Fills in missing fields at every write. */
  defaults?(object: Obj): Obj;
  check?(object: Obj): FieldProblem[];
  checkChange?(before: Obj, after: Obj): FieldProblem[];
}

export interface KindRow extends Resource {
  kind: string;
  subresources: readonly string[];
  /** The changes that increase metadata.generation; none by default. */
  generation?: 'spec' | 'spec and annotations';
  names: 'subdomain' | 'label' | 'path';
  /** Objects of this kind are answered and never stored. */
  review?: true;
  /** The kind comes from a CustomResourceDefinition. */
  custom?: true;
  /** A PUT must name the resourceVersion that it replaces. */
  conditional?: true;
  /** An object may be created with a status, as a kubelet creates its node. */
  bornWithStatus?: true;
  /** A DELETE without a propagation policy orphans the dependents. */
  orphans?: true;
  /** The fields to select by, besides metadata.name and metadata.namespace. */
  fields?: readonly string[];
  rules: KindRules;
}

type Extra = Partial<
  Pick<
    KindRow,
    'subresources' | 'generation' | 'names' | 'review' | 'conditional' | 'orphans' | 'bornWithStatus' | 'fields'
  >
>;

const workload = { subresources: ['status', 'scale'], generation: 'spec' } as const;
const withStatus = { subresources: ['status'] } as const;
const spec = { generation: 'spec' } as const;

/** How each kind differs from a plain object, measured on a v1.36 API server. */
const extras: Record<string, Extra> = {
  Event: {
    fields: [
      'type',
      'reason',
      'source',
      'reportingComponent',
      'involvedObject.kind',
      'involvedObject.namespace',
      'involvedObject.name',
      'involvedObject.uid',
      'involvedObject.apiVersion',
      'involvedObject.resourceVersion',
      'involvedObject.fieldPath',
    ],
  },
  Pod: {
    ...spec,
    subresources: ['status', 'eviction', 'binding'],
    fields: [
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'spec.hostNetwork',
      'status.phase',
      'status.podIP',
      'status.podIPs',
      'status.nominatedNodeName',
    ],
  },
  ResourceQuota: withStatus,
  PersistentVolumeClaim: withStatus,
  Namespace: { ...withStatus, names: 'label', fields: ['status.phase'] },
  Node: { ...withStatus, bornWithStatus: true, fields: ['spec.unschedulable'] },
  Deployment: { ...workload, generation: 'spec and annotations' },
  ReplicaSet: workload,
  StatefulSet: workload,
  DaemonSet: { ...withStatus, ...spec },
  Job: { ...withStatus, ...spec, orphans: true, fields: ['status.successful'] },
  CronJob: { ...withStatus, ...spec },
  HorizontalPodAutoscaler: withStatus,
  PodDisruptionBudget: { ...withStatus, ...spec, conditional: true },
  NetworkPolicy: spec,
  Service: { ...withStatus, names: 'label' },
  RoleBinding: { names: 'path' },
  ServiceAccount: { subresources: ['token'] },
  SelfSubjectReview: { review: true },
  SubjectAccessReview: { review: true },
  SelfSubjectAccessReview: { review: true },
  Lease: { conditional: true },
};

/** Kinds that tapfix itself does not use, but the demo or the tests do. */
const more: Record<string, Resource> = {
  SelfSubjectAccessReview: {
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'selfsubjectaccessreviews',
    namespaced: false,
  },
};

const rules: Record<string, KindRules> = {
  Namespace: namespaceRules,
  Node: nodeRules,
  Event: eventRules,
  ConfigMap: configMapRules,
  Pod: podRules,
  Deployment: deploymentRules,
  ReplicaSet: replicaSetRules,
  ResourceQuota: quotaRules,
  LimitRange: limitRangeRules,
  PodDisruptionBudget: budgetRules,
  RoleBinding: roleBindingRules,
};

const isCustom = ({ group }: Resource): boolean => group === resources.Remediation.group;

/** All built-in kinds, most of which have no rules. custom-kinds.ts has the rows of CustomResourceDefinitions. */
export const builtInKinds = (moreRules: Readonly<Record<string, KindRules>>): KindRow[] =>
  Object.entries({ ...resources, ...more })
    .filter(([, resource]) => !isCustom(resource))
    .map(([kind, resource]) => ({
      subresources: [],
      names: 'subdomain',
      ...resource,
      kind,
      ...extras[kind],
      rules: moreRules[kind] ?? rules[kind] ?? {},
    }));

export const apiVersionOf = ({ group, version }: Resource): string => (group ? `${group}/${version}` : version);
export const hasStatus = ({ subresources }: KindRow): boolean => subresources.includes('status');
