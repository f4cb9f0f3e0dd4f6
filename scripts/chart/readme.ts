import { imageRepository } from '../../src/manifests/manifest.ts';
import { valuesTable } from './values.ts';

/** The README of the chart. */
export const chartReadme = (version: string): string => `# tapfix

<!-- Made by npm run manifests; do not edit. -->

An on-call engineer's remote control for Kubernetes. This chart is for Helm 3 and 4, and Kubernetes 1.30 or newer.

\`\`\`sh
helm install tapfix oci://${imageRepository.replace(/[^/]+$/, 'charts/tapfix')} --version ${version} -n tapfix --create-namespace -f values.yaml
\`\`\`

It watches every namespace but the system's and its own. Give it a namespace of its own: not \`default\`, nor one that begins
with \`kube-\`. A token is never a value: it is in the Secret \`chat.existingSecret\`, which you make.

The names of the objects do not depend on the release. A second release in the same namespace is refused by Helm, which names the
first one. In another namespace it needs \`crds.enabled=false\` and \`shared.enabled=false\`; uninstall the first release last.

\`helm uninstall\` removes everything that could refuse anybody's request: policies, bindings and roles. The
CustomResourceDefinitions and all records stay (\`crds.keep\`), and a release of the same name and namespace takes them over again.
Helm makes the Deployments before the policies, seconds apart: install while nobody has a proposal to approve.

NetworkPolicies are enforced by the network of your cluster, or not at all; the tests of this chart check their content only.

## Values

Unknown keys and wrong types are refused.

${valuesTable()}
`;
