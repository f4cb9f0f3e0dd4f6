import { ifForbidden, type KubeObject, type ObjectMeta, type Reader } from '../kube/api.ts';
import type { ActionRefusal } from './action.ts';
import { no } from './action.ts';

export const protectedLabel = 'tapfix.dev/protected';

type Marked = Pick<ObjectMeta, 'labels' | 'annotations' | 'managedFields'>;

/** Under which names they write. Argo CD 2 marks what it owns by a label that everybody uses: only this tells it apart. */
const gitOpsManagers: Readonly<Record<string, string>> = {
  'argocd-controller': 'Argo CD',
  'argocd-application-controller': 'Argo CD',
  'kustomize-controller': 'Flux',
  'helm-controller': 'Flux',
};

export const isProtected = ({ labels }: Marked): boolean => labels?.[protectedLabel] === 'true';

/**
 * Who would put a change back, in words; undefined when nobody would. Helm's `managed-by` alone is nobody:
 * Helm acts only when a person runs it.
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

/** Why nothing is done to this object at all; undefined when something may be. */
export function untouchable(what: string, meta: Marked): ActionRefusal | undefined {
  if (!isProtected(meta)) return undefined;
  return no('Protected', `${what} is labelled ${protectedLabel}=true; nothing was changed.`);
}

/** The same, or that somebody would put back what is changed in its spec. */
export function offLimits(what: string, meta: Marked): ActionRefusal | undefined {
  const owner = gitOpsOwner(meta);
  return (
    untouchable(what, meta) ??
    (owner ? no('GitOpsOwned', `${what} belongs to ${owner}, which would put it back.`) : undefined)
  );
}

/** Without the right to read it we go on: the API server refuses a write to a protected namespace anyway. */
export async function readNamespaceLabels(reader: Reader, name: string): Promise<Record<string, string>> {
  const live = await reader.get<KubeObject>({ kind: 'Namespace', name }).catch(ifForbidden(undefined));
  return live?.metadata.labels ?? {};
}
