import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exec } from './exec.ts';

export interface Certificate {
  /** PEM */
  readonly cert: string;
  /** PEM */
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** Given: a server's certificate for these IP addresses and names. Absent: a client's. */
  readonly hosts?: readonly string[];
}

const days = '30';

/** Makes `ca.crt` and `ca.key` in a directory. */
export async function makeAuthority(directory: string): Promise<void> {
  const keyFile = join(directory, 'ca.key');
  await writeFile(keyFile, newKey(), { mode: 0o600 });
  await openssl(`req -x509 -new -days ${days} -addext keyUsage=critical,keyCertSign,cRLSign,digitalSignature`, {
    '-key': keyFile,
    '-subj': '/CN=test-cluster-ca',
    '-out': join(directory, 'ca.crt'),
  });
}

/** Signs a new certificate with the authority kept in a directory. */
export async function issueCertificate(directory: string, subject: Subject): Promise<Certificate> {
  const work = await mkdtemp(join(directory, 'issue-'));
  const file = (name: string) => join(work, name);
  try {
    const key = newKey();
    await writeFile(file('key'), key, { mode: 0o600 });
    await writeFile(file('extensions'), extensionsOf(subject));
    await openssl('req -new', { '-key': file('key'), '-subj': subjectLine(subject), '-out': file('request') });
    await openssl(`x509 -req -days ${days} -set_serial 0x${randomBytes(8).toString('hex')}`, {
      '-in': file('request'),
      '-out': file('cert'),
      '-CA': join(directory, 'ca.crt'),
      '-CAkey': join(directory, 'ca.key'),
      '-extfile': file('extensions'),
    });
    return { key, cert: await readFile(file('cert'), 'utf8') };
  } finally {
    await rm(work, { recursive: true });
  }
}

/** Fixed words first, then the options whose values may hold any character. */
async function openssl(words: string, options: Readonly<Record<string, string>>): Promise<void> {
  await exec('openssl', [...words.split(' '), ...Object.entries(options).flat()]);
}

/** In the older of the two PEM forms: for service account keys the API server reads no other. */
export function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'sec1', format: 'pem' }).toString();
}

function subjectLine({ commonName, organizations = [] }: Subject): string {
  const groups = organizations.map((name) => `/O=${escaped(name)}`).join('');
  return `${groups}/CN=${escaped(commonName)}`;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\/+]/g, String.raw`\$&`);
}

function extensionsOf({ hosts }: Subject): string {
  const common = 'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n';
  if (hosts === undefined) return `${common}extendedKeyUsage=clientAuth\n`;
  const names = hosts.map((host) => (/^[\d.]+$|:/.test(host) ? `IP:${host}` : `DNS:${host}`));
  return `${common}extendedKeyUsage=serverAuth\nsubjectAltName=${names.join(',')}\n`;
}
