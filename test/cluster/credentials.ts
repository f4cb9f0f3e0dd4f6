import { readFile, writeFile } from 'node:fs/promises';
import { apiServiceAddress, nodeAddress, nodeName, server } from './facts.ts';
import { issueCertificate, makeAuthority, newKey, type Subject } from './certificates.ts';
import { kubeconfigText } from './kubeconfig.ts';
import type { Layout } from './layout.ts';

const serving: Record<string, Subject> = {
  'kube-apiserver': {
    commonName: 'kube-apiserver',
    hosts: ['127.0.0.1', apiServiceAddress, nodeAddress, 'localhost', 'kubernetes', 'kubernetes.default.svc'],
  },
  'kubelet-server': { commonName: nodeName, hosts: [nodeAddress, nodeName] },
};

/** Who each component is to the API server: the names RBAC's built-in bindings know. */
const clients: Record<string, Subject> = {
  admin: { commonName: 'admin', organizations: ['system:masters'] },
  'kube-controller-manager': { commonName: 'system:kube-controller-manager' },
  'kube-scheduler': { commonName: 'system:kube-scheduler' },
  kubelet: { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] },
};

/** The API server's own certificate towards the kubelet, for `kubectl logs` and `exec`. */
const kubeletClient: Subject = { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] };

/** Makes the authority, every certificate and every kubeconfig the components start with. */
export async function makeCredentials(at: Layout): Promise<void> {
  await makeAuthority(at.pki);
  await writeFile(at.key('service-accounts'), newKey(), { mode: 0o600 });
  const toFiles = Object.entries({ ...serving, 'kubelet-client': kubeletClient });
  await Promise.all([
    ...toFiles.map(([name, subject]) => writePair(at, name, subject)),
    ...Object.entries(clients).map(([name, subject]) => writeKubeconfig(at, name, subject)),
  ]);
}

async function writePair(at: Layout, name: string, subject: Subject): Promise<void> {
  const { cert, key } = await issueCertificate(at.pki, subject);
  await writeFile(at.certificate(name), cert);
  await writeFile(at.key(name), key, { mode: 0o600 });
}

async function writeKubeconfig(at: Layout, name: string, subject: Subject): Promise<void> {
  const certificate = await issueCertificate(at.pki, subject);
  const text = kubeconfigText(server, await readFile(at.caFile, 'utf8'), subject.commonName, certificate);
  await writeFile(at.kubeconfig(name), text, { mode: 0o600 });
}
