import { type Resource, resources } from '../../kube/resources.ts';
import type { Obj } from './model.ts';
import type { Problem } from './refusal.ts';
import { rulesOf } from './rules.ts';

/** What a kind adds to what all objects have in common. Pure; `Obj`s that come in are not changed. */
export interface Rules {
  /** The first status, and what else the real one writes into a new object whatever was asked for. */
  born?(object: Obj): Obj;
  /** What was left out, at every write. */
  defaults?(object: Obj): Obj;
  check?(object: Obj): Problem[];
  checkChange?(before: Obj, after: Obj): Problem[];
}

export interface KindRow extends Resource {
  kind: string;
  subresources: readonly string[];
  /** Whether metadata.generation counts, and what. */
  generation?: 'spec' | 'spec and annotations';
  names: 'subdomain' | 'label' | 'path';
  /** Answered and forgotten: there is nothing to get or list. */
  review?: true;
  /** Of a CustomResourceDefinition. */
  custom?: true;
  /** PUT must say which version it replaces. */
  conditional?: true;
  /** May be created with a status, as a kubelet does with its node. */
  bornWithStatus?: true;
  /** What a DELETE that does not say does with dependents. */
  orphans?: true;
  /** Field selectors beside metadata.name and metadata.namespace. */
  fields?: readonly string[];
  rules: Rules;
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

/** Where each kind differs from a plain object; measured on a v1.36 API server. */
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
  RoleBinding: { names: 'path' },
  ServiceAccount: { subresources: ['token'] },
  SelfSubjectReview: { review: true },
  SubjectAccessReview: { review: true },
  SelfSubjectAccessReview: { review: true },
  Lease: { conditional: true },
};

/** Kinds that tapfix itself does not touch, but people in a demo, or its tests, do. */
const more: Record<string, Resource> = {
  ConfigMap: { group: '', version: 'v1', plural: 'configmaps', namespaced: true },
  Lease: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true },
  SelfSubjectAccessReview: {
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'selfsubjectaccessreviews',
    namespaced: false,
  },
};

const isCustom = ({ group }: Resource): boolean => group === resources.Remediation.group;

/** All built-in kinds. The custom ones come with their definitions (custom.ts). */
export const builtIn: readonly KindRow[] = Object.entries({ ...resources, ...more })
  .filter(([, resource]) => !isCustom(resource))
  .map(([kind, resource]) => ({
    subresources: [],
    names: 'subdomain',
    ...resource,
    kind,
    ...extras[kind],
    rules: rulesOf(kind),
  }));

export const apiVersionOf = ({ group, version }: Resource): string => (group ? `${group}/${version}` : version);
export const hasStatus = ({ subresources }: KindRow): boolean => subresources.includes('status');
