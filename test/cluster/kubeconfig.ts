import type { Certificate } from './certificates.ts';

export type Credential = Certificate | { readonly token: string };

/** A kubeconfig file's text; JSON is YAML. Certificates are inside it, so the one file is all a client needs. */
export function kubeconfigText(server: string, caPem: string, user: string, credential: Credential): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': base64(caPem) } }],
    users: [{ name: user, user: userOf(credential) }],
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
    'current-context': 'test',
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

function userOf(credential: Credential): object {
  if ('token' in credential) return { token: credential.token };
  return { 'client-certificate-data': base64(credential.cert), 'client-key-data': base64(credential.key) };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
