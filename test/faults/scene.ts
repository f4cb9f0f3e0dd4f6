import { actions } from '../../src/actions/table.ts';
import type { Api, KubeObject } from '../../src/kube/api.ts';
import { leases, memoryConfigMaps } from '../../src/manifests/workloads.ts';
import { deployment } from '../scenario/life/shop.ts';
import type { Trouble, TroubleKind } from './plan.ts';

/** The word behind the dash of an image's tag says how its pods do. */
const tags: Record<Exclude<TroubleKind, 'quota'>, string> = {
  crash: '2-crash',
  oom: '2-oom',
  image: '2-image-missing',
  config: '2-config-missing',
};

/** The Deployment that a quota blocks. */
const blocked = 'ledger';

const workloadOf = ({ kind, name }: Trouble): string => (kind === 'quota' ? blocked : name);

/** The incident's key. */
export const keyOf = ({ kind, namespace, name }: Trouble): string =>
  `${namespace}/${kind === 'quota' ? 'ResourceQuota' : 'Deployment'}/${name}`;

const named = (apiVersion: string, kind: string, name: string): object => ({ apiVersion, kind, metadata: { name } });

/** What tapfix finds installed. */
export async function install(api: Api, namespaces: readonly string[]): Promise<void> {
  for (const name of [...namespaces, 'tapfix']) await api.create({ kind: 'Namespace' }, named('v1', 'Namespace', name));
  await api.create({ kind: 'ServiceAccount', namespace: 'tapfix' }, named('v1', 'ServiceAccount', 'tapfix-writer'));
  const install = { namespace: 'tapfix', image: '', actions };
  for (const manifest of [...memoryConfigMaps(install), ...leases(install)])
    await api.create({ kind: manifest.kind as 'ConfigMap' | 'Lease', namespace: 'tapfix' }, manifest);
}

/** Every workload, healthy. */
export async function deployAll(api: Api, troubles: readonly Trouble[]): Promise<void> {
  for (const trouble of troubles)
    await api.create(
      { kind: 'Deployment', namespace: trouble.namespace },
      deployment(workloadOf(trouble), { replicas: 1 }),
    );
}

export async function rollOutTag(api: Api, namespace: string, name: string, tag: string): Promise<void> {
  const image = `shop/app:${tag}`;
  const patch = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: image }];
  await api.patch({ kind: 'Deployment', namespace, name }, 'json', patch);
}

export async function breakIt(api: Api, trouble: Trouble): Promise<void> {
  const { kind, namespace, name } = trouble;
  if (kind !== 'quota') return rollOutTag(api, namespace, name, tags[kind]);
  const spec = { hard: { 'requests.memory': '8Mi' } };
  const quota = { ...named('v1', 'ResourceQuota', name), spec };
  await api.create({ kind: 'ResourceQuota', namespace }, quota);
  for (const { metadata } of await api.list('Pod', namespace))
    await api.delete({ kind: 'Pod', namespace, name: metadata.name });
}

/** Somebody mends it by hand; a quota makes room for those whom it blocks. */
export async function healIt(api: Api, { kind, namespace, name }: Trouble): Promise<void> {
  if (kind !== 'quota') return rollOutTag(api, namespace, name, '3');
  const quota = await api.get({ kind: 'ResourceQuota', namespace, name });
  if (quota) await api.delete({ kind: 'ResourceQuota', namespace, name });
  // A ReplicaSet that was refused waits long before it tries again.
  for (const { metadata } of await api.list('ReplicaSet', namespace))
    await api.patch({ kind: 'ReplicaSet', namespace, name: metadata.name }, 'merge', {
      metadata: { annotations: { 'example.com/nudged': 'yes' } },
    });
}

interface Rolled extends KubeObject {
  spec: { template: { spec: { containers: { image: string }[] } } };
  status?: { availableReplicas?: number; updatedReplicas?: number };
}

/** Not only for a moment: a container that crashes is available until it does, again and again. */
export async function isWell(api: Api, trouble: Trouble): Promise<boolean> {
  const { kind, namespace, name } = trouble;
  const found = await api.get<Rolled>({ kind: 'Deployment', namespace, name: workloadOf(trouble) });
  const isMended =
    kind === 'quota'
      ? (await api.get({ kind: 'ResourceQuota', namespace, name })) === undefined
      : !found?.spec.template.spec.containers[0]?.image.endsWith(tags[kind]);
  return isMended && found?.status?.availableReplicas === 1 && found.status.updatedReplicas === 1;
}
