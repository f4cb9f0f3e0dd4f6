import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitOpsOwner, isProtected } from '../../../src/actions/ownership.ts';

const owners: (Parameters<typeof gitOpsOwner>[0] & { want: string | undefined })[] = [
  { labels: { 'app.kubernetes.io/managed-by': 'Helm', 'app.kubernetes.io/instance': 'shop' }, want: undefined },
  { labels: { 'argocd.argoproj.io/instance': 'shop' }, want: 'Argo CD (application shop)' },
  {
    labels: { 'app.kubernetes.io/instance': 'shop' },
    managedFields: [{ manager: 'argocd-controller' }],
    want: 'Argo CD',
  },
  { managedFields: [{ manager: 'kustomize-controller' }], want: 'Flux' },
  { managedFields: [{ manager: 'argocd-controller', subresource: 'status' }, { manager: 'kubectl' }], want: undefined },
  {
    annotations: { 'argocd.argoproj.io/tracking-id': 'web:apps/Deployment:shop/x' },
    want: 'Argo CD (application web)',
  },
  {
    labels: { 'app.kubernetes.io/instance': 'shop' },
    annotations: { 'argocd.argoproj.io/tracking-id': 'shop:apps/Deployment:shop/x' },
    want: 'Argo CD (application shop)',
  },
  { labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' }, want: 'Flux (Kustomization apps)' },
  { labels: { 'helm.toolkit.fluxcd.io/name': 'rel' }, want: 'Flux (HelmRelease rel)' },
  { want: undefined },
];
for (const { want, ...meta } of owners) {
  test(`${JSON.stringify(meta)} is owned by ${want ?? 'nobody'}`, () => assert.equal(gitOpsOwner(meta), want));
}

test('only the word "true" protects', () => {
  assert.equal(isProtected({ labels: { 'tapfix.dev/protected': 'true' } }), true);
  assert.equal(isProtected({ labels: { 'tapfix.dev/protected': 'false' } }), false);
});
