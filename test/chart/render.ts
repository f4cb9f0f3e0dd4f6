import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../src/manifests/manifest.ts';
import { outcomeOf } from '../cluster/exec.ts';
import { chartTools } from './tools.ts';

export const root = join(import.meta.dirname, '../..');
export const chart = join(root, 'deploy/helm/tapfix');

export const tools = await chartTools(console.log, new AbortController().signal);

/** Both majors of Helm, by name. */
export const helms = [
  { name: 'Helm 3', helm: tools.helm3 },
  { name: 'Helm 4', helm: tools.helm4 },
] as const;

export interface RenderOptions {
  helm?: string;
  values?: object;
  namespace?: string;
  kubeVersion?: string;
  /** Another chart than ours. */
  chart?: string;
}

/** `helm template`: the exit code, and what it printed. */
export const rendering = ({
  helm = tools.helm3,
  values = {},
  namespace = 'tapfix',
  kubeVersion = '1.36.0',
  chart: folder = chart,
}: RenderOptions = {}) =>
  outcomeOf(
    helm,
    ['template', 'tapfix', folder, '--namespace', namespace, '--kube-version', kubeVersion, '--values', '-'],
    { input: JSON.stringify(values) },
  );

/** The objects that a release would have. */
export async function rendered(options: RenderOptions = {}): Promise<Manifest[]> {
  const { code, stdout, stderr } = await rendering(options);
  if (code !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest | null)
    .filter((object) => object !== null);
}

export const nameOf = ({ kind, metadata }: Manifest): string =>
  [kind, metadata.namespace, metadata.name].filter((part) => part !== undefined).join(' ');

export const byName = (objects: readonly Manifest[]): Map<string, Manifest> =>
  new Map(objects.map((object) => [nameOf(object), object]));
