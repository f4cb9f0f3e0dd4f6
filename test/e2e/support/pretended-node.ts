import { type ClosableApi, createApi } from '../../../src/kube/client.ts';
import { loadKubeConfig } from '../../../src/kube/kubeconfig.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLog } from '../../../src/lib/log.ts';
import type { NodeObject } from '../../../src/sim/common/shapes.ts';
import { runKubelet } from '../../../src/sim/kubelet/kubelet.ts';
import type { Cluster } from '../../cluster/cluster.ts';

/** A node of the real control plane whose kubelet is only pretended, so that it can be lost. */
export interface PretendedNode {
  /** Falls silent, as when its machine is gone. */
  lose(): void;
  comeBack(): void;
  /** "True", "False", "Unknown" once the control plane has given it up. */
  ready(): Promise<string | undefined>;
  /** Ends the kubelet, and its node is gone. */
  remove(): Promise<void>;
}

export function pretendNode(cluster: Cluster, name: string): PretendedNode {
  const env = { KUBECONFIG: cluster.kubeconfig, HOME: cluster.dir };
  const api: ClosableApi = createApi({ kubeConfig: loadKubeConfig({ env }) });
  const stop = new AbortController();
  const kubelet = runKubelet({
    api,
    clock: systemClock,
    log: createLog({ level: 'silent' }),
    nodes: [{ name, labels: { pool: name }, taints: [{ key: 'pretended', value: 'true', effect: 'NoSchedule' }] }],
    signal: stop.signal,
  });
  return {
    lose: () => kubelet.stopNode(name),
    comeBack: () => kubelet.startNode(name),
    async ready() {
      const node = await cluster.get<NodeObject>('nodes', undefined, name);
      return node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    },
    async remove() {
      stop.abort();
      await kubelet.ended;
      await api.close();
      await cluster.kubectl(['delete', 'node', name, '--ignore-not-found']);
    },
  };
}

/** Of the workload image, which is never run: only that node may have it. */
export const pinnedTo = (node: string, name: string, replicas: number): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      nodeSelector: {pool: ${node}}
      tolerations: [{key: pretended, operator: Exists, effect: NoSchedule}]
      containers: [{name: app, image: "shop/${name}:1", resources: {requests: {cpu: 10m, memory: 16Mi}}}]
`;
