import type { Approver } from '../config/schema.ts';
import type { Api, KubeObject } from '../kube/api.ts';
import { group } from '../kube/remediation.ts';
import { apiVersionOf, resources } from '../kube/resources.ts';

/** May this Kubernetes user approve in this namespace? So RBAC governs the chat, without impersonation. */
export type SubjectAccess = (approver: Approver, namespace: string) => Promise<boolean>;

export const createSubjectAccess =
  (api: Pick<Api, 'create'>): SubjectAccess =>
  async (approver, namespace) => {
    const review = await api.create<KubeObject & { status?: { allowed?: boolean } }>(
      { kind: 'SubjectAccessReview' },
      {
        apiVersion: apiVersionOf('SubjectAccessReview'),
        kind: 'SubjectAccessReview',
        spec: {
          user: approver.kubernetesUser,
          groups: approver.kubernetesGroups,
          resourceAttributes: { group, resource: resources.Remediation.plural, verb: 'approve', namespace },
        },
      },
    );
    return review.status?.allowed === true;
  };
