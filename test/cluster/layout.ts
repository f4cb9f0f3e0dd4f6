import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

export type Layout = ReturnType<typeof layout>;

/** Everything a running cluster keeps on disk, under one directory that is removed when it ends. */
export function layout(dir: string) {
  return {
    dir,
    pki: join(dir, 'pki'),
    caFile: join(dir, 'pki', 'ca.crt'),
    kubeconfigs: join(dir, 'kubeconfig'),
    adminKubeconfig: join(dir, 'kubeconfig', 'admin'),
    config: join(dir, 'config'),
    cni: join(dir, 'config', 'cni'),
    etcd: join(dir, 'etcd'),
    images: join(dir, 'images'),
    /** The program in every image of ours. */
    workload: join(dir, 'workload'),
    logs: join(dir, 'log'),
    auditLog: join(dir, 'log', 'audit.log'),
    pids: join(dir, 'run'),
    /** The cluster's first process as the machine outside numbers it: what `nsenter` wants. */
    outerPidFile: join(dir, 'run', 'outer.pid'),
    temporary: join(dir, 'tmp'),
    /** Every cluster has the same address: kubectl must not remember the resources of another one. */
    kubectlCache: join(dir, 'tmp', 'kubectl'),
    varLib: join(dir, 'var-lib'),
    varLog: join(dir, 'var-log'),
    certificate: (name: string) => join(dir, 'pki', `${name}.crt`),
    key: (name: string) => join(dir, 'pki', `${name}.key`),
    kubeconfig: (name: string) => join(dir, 'kubeconfig', name),
    log: (component: string) => join(dir, 'log', `${component}.log`),
    pidFile: (component: string) => join(dir, 'run', `${component}.pid`),
  };
}

export async function makeDirectories(at: Layout): Promise<void> {
  const { pki, kubeconfigs, cni, etcd, images, logs, pids, temporary, varLib, varLog } = at;
  for (const directory of [pki, kubeconfigs, cni, etcd, images, logs, pids, temporary, varLib, varLog]) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  }
}
