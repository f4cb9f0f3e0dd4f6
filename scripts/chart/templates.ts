import { stringify } from 'yaml';
import { actions } from '../../src/actions/table.ts';
import { customResourceDefinitions } from '../../src/manifests/crd.ts';
import type { Install, Manifest } from '../../src/manifests/manifest.ts';
import { admissionPolicies, stampingPolicy } from '../../src/manifests/policies.ts';
import { accessControl } from '../../src/manifests/rbac.ts';
import { leases, memoryConfigMaps, serviceAccounts } from '../../src/manifests/workloads.ts';

/** Stands for the namespace until Helm knows it. */
const placeholder = 'namespace-of-the-release';
const install: Install = { namespace: placeholder, image: '', actions };

const header = '{{- /* Made by npm run manifests from the tables in src/manifests; do not edit. */}}\n';

/** A whole value is quoted: a namespace may be called 1 or true. */
const named = (text: string): string =>
  text
    .replaceAll('{{', '{{ "{{" }}')
    .replaceAll(new RegExp(`-${placeholder}$`, 'gm'), '{{ include "tapfix.suffix" . }}')
    .replaceAll(new RegExp(`: ${placeholder}$`, 'gm'), ': {{ include "tapfix.namespace" . | quote }}')
    .replaceAll(placeholder, '{{ include "tapfix.namespace" . }}');

const textOf = (object: Manifest): string =>
  `---\n${named(stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))}`;

const when = (condition: string, text: string): string => `{{- if ${condition} }}\n${text}{{- end }}\n`;

/** The same for every tapfix of the cluster: it belongs to none of them. */
const isShared = (object: Manifest): boolean => !JSON.stringify(object).includes(placeholder);

const document = (object: Manifest): string =>
  isShared(object) ? when('.Values.shared.enabled', textOf(object)) : textOf(object);

const keep = '{{- if .Values.crds.keep }}\n  annotations:\n    helm.sh/resource-policy: keep\n{{- end }}\n';

const definition = (object: Manifest): string =>
  textOf(object).replace(/^metadata:\n {2}name: .*\n/m, (metadata) => metadata + keep);

/** File name to text: the templates that come from the same tables as the manifests. */
export const generatedTemplates = (): Map<string, string> =>
  new Map([
    ['crds.yaml', header + when('.Values.crds.enabled', customResourceDefinitions(actions).map(definition).join(''))],
    ['policies.yaml', header + admissionPolicies(install).map(document).join('')],
    ['rbac.yaml', header + [...serviceAccounts(install), ...accessControl(install)].map(document).join('')],
    ['memory.yaml', header + [...memoryConfigMaps(install), ...leases(install)].map(document).join('')],
    [
      'stamping.yaml',
      header +
        when(
          'and .Values.stamping.enabled .Values.shared.enabled (semverCompare ">=1.36.0-0" .Capabilities.KubeVersion.Version)',
          stampingPolicy().map(textOf).join(''),
        ),
    ],
  ]);
