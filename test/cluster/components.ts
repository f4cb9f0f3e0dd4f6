import { join } from 'node:path';
import { apiPort, nodeAddress, nodeName, serviceRange, type ComponentName } from './facts.ts';
import type { Layout } from './layout.ts';

export interface Component {
  readonly name: ComponentName;
  readonly args: readonly string[];
  /** Answers 200 when the component works; absent where something else tells. */
  readonly healthUrl?: string;
}

const etcdUrl = 'http://127.0.0.1:2379';

export function components(at: Layout): Record<ComponentName, Component> {
  return {
    etcd: etcd(at),
    containerd: { name: 'containerd', args: ['--config', join(at.config, 'containerd.toml')] },
    'kube-apiserver': apiServer(at),
    'kube-controller-manager': controllerManager(at),
    'kube-scheduler': scheduler(at),
    kubelet: kubelet(at),
  };
}

function etcd(at: Layout): Component {
  const peers = 'http://127.0.0.1:2380';
  const metrics = 'http://127.0.0.1:2381';
  return {
    name: 'etcd',
    healthUrl: `${metrics}/readyz`,
    args: [
      `--data-dir=${at.etcd}`,
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=${peers}`,
      `--initial-advertise-peer-urls=${peers}`,
      `--initial-cluster=default=${peers}`,
      `--listen-metrics-urls=${metrics}`,
      // Safe against a killed process, which is all that tests do to it; only a power cut would lose data.
      '--unsafe-no-fsync',
    ],
  };
}

function apiServer(at: Layout): Component {
  return {
    name: 'kube-apiserver',
    healthUrl: `https://127.0.0.1:${apiPort}/readyz`,
    args: [
      `--etcd-servers=${etcdUrl}`,
      '--bind-address=0.0.0.0',
      `--secure-port=${apiPort}`,
      `--advertise-address=${nodeAddress}`,
      `--service-cluster-ip-range=${serviceRange}`,
      `--client-ca-file=${at.caFile}`,
      `--tls-cert-file=${at.certificate('kube-apiserver')}`,
      `--tls-private-key-file=${at.key('kube-apiserver')}`,
      `--kubelet-client-certificate=${at.certificate('kubelet-client')}`,
      `--kubelet-client-key=${at.key('kubelet-client')}`,
      `--kubelet-certificate-authority=${at.caFile}`,
      // Names would need DNS.
      '--kubelet-preferred-address-types=InternalIP',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${at.key('service-accounts')}`,
      `--service-account-signing-key-file=${at.key('service-accounts')}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--allow-privileged=true',
      `--audit-policy-file=${join(at.config, 'audit-policy.json')}`,
      `--audit-log-path=${at.auditLog}`,
      '--audit-log-mode=blocking',
      '--audit-log-maxsize=4096',
    ],
  };
}

function controllerManager(at: Layout): Component {
  return {
    name: 'kube-controller-manager',
    healthUrl: 'https://127.0.0.1:10257/healthz',
    args: [
      `--kubeconfig=${at.kubeconfig('kube-controller-manager')}`,
      '--bind-address=127.0.0.1',
      '--leader-elect=false',
      '--use-service-account-credentials=true',
      // Twenty requests a second, as usual, make hundreds of pods a matter of minutes.
      '--kube-api-qps=200',
      '--kube-api-burst=400',
      `--service-account-private-key-file=${at.key('service-accounts')}`,
      `--root-ca-file=${at.caFile}`,
    ],
  };
}

function scheduler(at: Layout): Component {
  return {
    name: 'kube-scheduler',
    healthUrl: 'https://127.0.0.1:10259/healthz',
    args: [`--kubeconfig=${at.kubeconfig('kube-scheduler')}`, '--bind-address=127.0.0.1', '--leader-elect=false'],
  };
}

function kubelet(at: Layout): Component {
  return {
    name: 'kubelet',
    healthUrl: 'http://127.0.0.1:10248/healthz',
    args: [
      `--config=${join(at.config, 'kubelet.json')}`,
      `--kubeconfig=${at.kubeconfig('kubelet')}`,
      `--hostname-override=${nodeName}`,
      `--node-ip=${nodeAddress}`,
    ],
  };
}
