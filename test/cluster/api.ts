import { readFile } from 'node:fs/promises';
import https from 'node:https';
import { text } from 'node:stream/consumers';

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface ResourceType {
  /** Every name it goes by, lower case: plural, singular, kind, short names. */
  readonly names: readonly string[];
  readonly group: string;
  readonly base: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/**
 * Reads objects over connections that stay open: a kubectl per poll, or a handshake, would keep a small machine busy with
 * nothing else.
 */
export class Api {
  readonly #server: string;
  readonly #agent: https.Agent;
  #types: readonly ResourceType[] = [];

  private constructor(server: string, tls: { ca: Buffer; cert: Buffer; key: Buffer }) {
    this.#server = server;
    this.#agent = new https.Agent({ ...tls, keepAlive: true });
  }

  /** From a kubeconfig that this harness wrote. */
  static async fromKubeconfig(file: string): Promise<Api> {
    const config = JSON.parse(await readFile(file, 'utf8')) as {
      clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
      users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
    };
    const { cluster } = config.clusters[0];
    const { user } = config.users[0];
    const [ca, cert, key] = [
      cluster['certificate-authority-data'],
      user['client-certificate-data'],
      user['client-key-data'],
    ].map((data) => Buffer.from(data, 'base64')) as [Buffer, Buffer, Buffer];
    return new Api(cluster.server, { ca, cert, key });
  }

  async get<T>(resource: string, namespace: string | undefined, name: string): Promise<T | undefined> {
    const type = await this.#typeOf(resource);
    const path = pathOf(type, type.namespaced ? (namespace ?? 'default') : undefined);
    const { status, body } = await this.#request(`${path}/${encodeURIComponent(name)}`);
    if (status === 404) return undefined;
    return successful(status, body) as T;
  }

  async list<T>(resource: string, namespace?: string): Promise<T[]> {
    const { status, body } = await this.#request(pathOf(await this.#typeOf(resource), namespace));
    return (successful(status, body) as { items: T[] }).items;
  }

  async create(resource: string, body: object): Promise<void> {
    const answer = await this.#request(pathOf(await this.#typeOf(resource), undefined), { body });
    successful(answer.status, answer.body);
  }

  /** What is not known may have been installed since: ask once more before saying no. */
  async #typeOf(resource: string): Promise<ResourceType> {
    const known = this.#find(resource);
    if (known !== undefined) return known;
    this.#types = [...(await this.#discover('/api')), ...(await this.#discover('/apis'))];
    const found = this.#find(resource);
    if (found === undefined) throw new Error(`the API server has no resource "${resource}"`);
    return found;
  }

  #find(resource: string): ResourceType | undefined {
    const [name = '', ...rest] = resource.toLowerCase().split('.');
    const group = rest.join('.');
    return this.#types.find((type) => type.names.includes(name) && (group === '' || type.group === group));
  }

  async #discover(root: '/api' | '/apis'): Promise<ResourceType[]> {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { status, body } = await this.#request(root, { accept });
    return (successful(status, body) as Discovery).items.flatMap((group) => typesOf(root, group));
  }

  #request(
    path: string,
    { accept = 'application/json', body }: { accept?: string; body?: object } = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = { accept, ...(body && { 'content-type': 'application/json' }) };
      const options = { agent: this.#agent, timeout: 10_000, headers, method: body ? 'POST' : 'GET' };
      const request = https.request(new URL(path, this.#server), options, (response) => {
        text(response)
          .then((body) => resolve({ status: response.statusCode ?? 0, body: JSON.parse(body) as unknown }))
          .catch(reject);
      });
      request.on('timeout', () => request.destroy(new Error(`no answer about ${path} within 10 s`)));
      // A connection that was idle may have ended with a server that was killed; a new one knows.
      request.on('error', (error: NodeJS.ErrnoException) =>
        request.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '')
          ? resolve(this.#request(path, { accept, ...(body && { body }) }))
          : reject(error),
      );
      request.end(body && JSON.stringify(body));
    });
  }
}

interface DiscoveredGroup {
  metadata: { name?: string };
  versions: {
    version: string;
    resources?: {
      resource: string;
      singularResource: string;
      shortNames?: string[];
      scope: string;
      responseKind?: { kind: string };
    }[];
  }[];
}

interface Discovery {
  items: DiscoveredGroup[];
}

/** The first version a group lists is the one it prefers. */
function typesOf(root: '/api' | '/apis', group: DiscoveredGroup): ResourceType[] {
  const groupName = group.metadata.name ?? '';
  return group.versions.flatMap(({ version, resources = [] }) =>
    resources.map(({ resource, singularResource, shortNames = [], scope, responseKind }) => ({
      names: [resource, singularResource, responseKind?.kind.toLowerCase() ?? '', ...shortNames],
      group: groupName,
      base: root === '/api' ? `/api/${version}` : `/apis/${groupName}/${version}`,
      plural: resource,
      namespaced: scope === 'Namespaced',
    })),
  );
}

function pathOf(type: ResourceType, namespace: string | undefined): string {
  const inNamespace = type.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${type.base}${inNamespace}/${type.plural}`;
}

function successful(status: number, body: unknown): unknown {
  if (status === 200 || status === 201) return body;
  throw new Error(`the API server answered ${status}: ${(body as { message?: string }).message ?? ''}`);
}
