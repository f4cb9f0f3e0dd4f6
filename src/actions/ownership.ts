import { ifForbidden, type KubeObject, type ObjectMeta, type Reader } from '../kube/api.ts';
import type { ActionRefusal } from './action.ts';
import { no } from './action.ts';

export const protectedLabel = 'tapfix.dev/protected';

type Marked = Pick<ObjectMeta, 'labels' | 'annotations' | 'managedFields'>;

/**
 * The field managers under which GitOps tools write. Argo CD 2 marks its objects with a label that everybody uses; only
 * the manager identifies it.
 */
const gitOpsManagers: Readonly<Record<string, string>> = {
  'argocd-controller': 'Argo CD',
  'argocd-application-controller': 'Argo CD',
  'kustomize-controller': 'Flux',
  'helm-controller': 'Flux',
};

export const isProtected = ({ labels }: Marked): boolean => labels?.[protectedLabel] === 'true';

/**
 * The name of the tool that would revert a change; undefined if there is none. Helm's `managed-by` alone does not
 * count: Helm acts only when a person runs it.
 */
export function gitOpsOwner({ labels = {}, annotations = {}, managedFields = [] }: Marked): string | undefined {
  const tracking = annotations['argocd.argoproj.io/tracking-id'];
  const app = labels['argocd.argoproj.io/instance'] ?? (tracking && labels['app.kubernetes.io/instance']);
  if (app || tracking) return `Argo CD (application ${app || tracking?.split(':')[0]})`;
  const kustomization = labels['kustomize.toolkit.fluxcd.io/name'];
  if (kustomization) return `Flux (Kustomization ${kustomization})`;
  const release = labels['helm.toolkit.fluxcd.io/name'];
  if (release) return `Flux (HelmRelease ${release})`;
  const writer = managedFields.find(({ manager = '', subresource }) => !subresource && gitOpsManagers[manager]);
  return writer && gitOpsManagers[writer.manager ?? ''];
}

/** Why nothing may be done to this object at all; undefined if something may. */
export function untouchable(what: string, meta: Marked): ActionRefusal | undefined {
  if (!isProtected(meta)) return undefined;
  return no('Protected', `${what} is labelled ${protectedLabel}=true; nothing was changed.`);
}

/** The same, or that a GitOps tool would revert a change of its spec. */
export function offLimits(what: string, meta: Marked): ActionRefusal | undefined {
  const owner = gitOpsOwner(meta);
  return (
    untouchable(what, meta) ??
    (owner ? no('GitOpsOwned', `${what} belongs to ${owner}, which would put it back.`) : undefined)
  );
}

/** Without the right to read it we continue: the API server refuses a write to a protected namespace anyway. */
export async function readNamespaceLabels(reader: Reader, name: string): Promise<Record<string, string>> {
  const live = await reader.get<KubeObject>({ kind: 'Namespace', name }).catch(ifForbidden(undefined));
  return live?.metadata.labels ?? {};
}
