import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { auditPolicy } from './audit.ts';
import { containerdSocket, pauseImage, podRange } from './facts.ts';
import type { Layout } from './layout.ts';
import { cniDirectory } from './prerequisites.ts';

export interface NodeOptions {
  /** The cgroup under which every pod of this cluster lives, so that it can be removed with the cluster. */
  readonly cgroupRoot: string;
  readonly runc: string;
}

export async function writeConfigs(at: Layout, options: NodeOptions): Promise<void> {
  await writeFile(join(at.config, 'audit-policy.json'), JSON.stringify(auditPolicy));
  await writeFile(join(at.config, 'kubelet.json'), JSON.stringify(kubeletConfig(at, options)));
  await writeFile(join(at.config, 'containerd.toml'), containerdConfig(at, options));
  await writeFile(join(at.cni, '10-pods.conflist'), JSON.stringify(podNetwork));
}

function kubeletConfig(at: Layout, { cgroupRoot }: NodeOptions): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: at.caFile } },
    authorization: { mode: 'Webhook' },
    tlsCertFile: at.certificate('kubelet-server'),
    tlsPrivateKeyFile: at.key('kubelet-server'),
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    configMapAndSecretChangeDetectionStrategy: 'Watch',
    maxPods: 400, // what one test file leaves behind must not keep the next from running
    // There is no DNS server; without an address every pod gets a MissingClusterDNS warning.
    clusterDNS: ['10.0.0.10'],
    clusterDomain: 'cluster.local',
    resolvConf: '',
    cgroupDriver: 'cgroupfs',
    cgroupRoot,
    failCgroupV1: false,
    enforceNodeAllocatable: [],
    failSwapOn: false,
    // Lets the kubelet go on where the machine does not let root change kernel settings or out-of-memory scores.
    featureGates: { KubeletInUserNamespace: true },
    // The machine's disk and memory are not this node's alone: never evict because of what others use.
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
  };
}

function containerdConfig(at: Layout, { runc }: NodeOptions): string {
  return `version = 3

[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = "${pauseImage}"

[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = true

[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ["${cniDirectory}"]
conf_dir = "${at.cni}"

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = "${runc}"
SystemdCgroup = false
`;
}

const podNetwork = {
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'ptp',
      ipam: { type: 'host-local', ranges: [[{ subnet: podRange }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
};
