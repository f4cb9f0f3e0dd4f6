import { createBucket } from '../lib/bucket.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import {
  type Api,
  ApiError,
  type DeleteOptions,
  fieldManager,
  hasCode,
  isNotFound,
  type KubeObject,
  type ListSelector,
  type Page,
  type PatchType,
  type Preconditions,
  type WatchLine,
  type WriteOptions,
} from './api.ts';
import {
  createAgents,
  type GetIdentity,
  identityOf,
  type KubeCredentials,
  serverOf,
  tokenIdentity,
} from './client-credentials.ts';
import { badAnswer, type Call, createTransport, cut, LongLine, type Transport } from './client-transport.ts';
import { type AskForPage, collect, identityInHead, longestObjectBytes, pagesOf, TooLarge } from './bounds.ts';
import type { Outage } from './outage.ts';
import { apiVersionOf, type Kind, pathOf, type Ref, resources } from './resources.ts';
import { patientTransport } from './retry.ts';

/** The path of one object. An empty name would mean the whole collection, and ".." another path: both are refused. */
export function objectPath({ kind, namespace, name, subresource }: Ref): string {
  mustBeName('name', name);
  if (resources[kind].namespaced) mustBeName('namespace', namespace ?? '');
  return pathOf(kind, namespace, name, subresource);
}

/** The path of all objects of a kind, in one namespace or everywhere. */
function collectionPath(kind: Kind, namespace: string | undefined): string {
  if (namespace) mustBeName('namespace', namespace);
  return pathOf(kind, namespace);
}

function mustBeName(what: string, value: string): void {
  if (value && value !== '.' && value !== '..' && !value.includes('/')) return;
  throw new ApiError(`"${value}" is not the ${what} of an object`, 400, 'BadRequest');
}

export interface ApiOptions {
  kubeConfig: KubeCredentials;
  /** The limit for a whole ordinary call: credentials, connection, answer, and the pauses before it is repeated. */
  timeoutMs?: number;
  /** False: what the server refuses unprocessed, and a read that failed, is not repeated. */
  retry?: boolean;
  /** False: requests are sent as they come, however many. */
  limit?: boolean;
  /** Hears what becomes of every request, those of all withToken() identities included. */
  outage?: Outage;
  clock?: Clock;
  random?: () => number;
  /** The field manager under which the API server records our writes. */
  manager?: string;
}

export interface ClosableApi extends Api {
  /** Ends every connection at once, including those of all withToken() identities, because they share them. */
  close(): Promise<void>;
}

/** The API server gets a log from the node, which may be unreachable. A few lines are not worth a long wait. */
const longestLogMs = 4_000;
/** https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-partial-object-metadata */
const justMetadata = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json';
/** The header that kubectl sends: a log is not JSON, but a refusal is. */
const anything = 'application/json, */*';

const patchContentTypes: Record<PatchType, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
};

/** Keeps a storm of failures from becoming the server's. All identities share it; a watch counts when it opens. */
const usualLimit = { perSecond: 50, burst: 100 };

export function createApi(options: ApiOptions): ClosableApi {
  const { kubeConfig, timeoutMs = 15_000, retry = true, limit = true, outage, manager } = options;
  const { clock = systemClock, random = Math.random } = options;
  const { address: server, proxy } = serverOf(kubeConfig);
  const agents = createAgents(proxy);
  const closing = new AbortController();
  const bucket = limit ? createBucket({ clock, ...usualLimit }) : undefined;
  const patience = { clock, random, retry, limit: bucket, outage, timeoutMs, closed: closing.signal };
  const as = (identity: GetIdentity): Api =>
    apiOver({
      server,
      ...(manager && { manager }),
      transport: patientTransport(createTransport({ server, agents, identity, timeoutMs }), patience),
      withToken: (token) => as(tokenIdentity(kubeConfig, token)),
    });
  async function close(): Promise<void> {
    closing.abort();
    await agents.close();
  }
  return { ...as(identityOf(kubeConfig)), close };
}

interface Parts {
  /** The server's address, for messages. */
  server: string;
  /** The field manager of writes. */
  manager?: string;
  transport: Transport;
  withToken(token: string): Api;
  /** See Api.guardedBy. */
  check?(): void;
}

/** An Api on top of any transport. */
export function apiOver(parts: Parts): Api {
  const { server, manager = fieldManager, transport, withToken } = parts;
  const writeQuery = ({ dryRun = false }: WriteOptions = {}): Record<string, string> =>
    dryRun ? { fieldManager: manager, dryRun: 'All' } : { fieldManager: manager };

  const write = <T>(call: Call): Promise<T> => transport.answer(parts.check ? { ...call, check: parts.check } : call);

  async function page<T extends KubeObject>(
    kind: Kind,
    namespace: string | undefined,
    query: Record<string, string>,
    longestBytes?: number,
    accept?: string,
  ): Promise<Page<T>> {
    const path = collectionPath(kind, namespace);
    let bytes = 0;
    const onBytes = (all: number): void => void (bytes = all);
    const bound = longestBytes === undefined ? {} : { longestBytes };
    const found = await transport.answer<Page<T>>({
      method: 'GET',
      path,
      query,
      onBytes,
      ...bound,
      ...(accept && { accept }),
    });
    if (!Array.isArray(found.items)) throw badAnswer(server, 'not a list');
    found.metadata ??= { resourceVersion: '' };
    found.bytes = bytes;
    // Items of a list come without these two fields; objects of a watch have them.
    for (const item of found.items) Object.assign(item, { kind, apiVersion: apiVersionOf(kind) });
    return found;
  }

  return {
    withToken,
    guardedBy: (check) => apiOver(guarded(parts, check)),
    page: (kind, namespace, query, longestBytes) => page(kind, namespace, query, longestBytes),
    async get<T extends KubeObject>(ref: Ref): Promise<T | undefined> {
      try {
        return await transport.answer<T>({ method: 'GET', path: objectPath(ref) });
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    async list<T extends KubeObject>(
      kind: Kind,
      namespace?: string,
      { metadataOnly, ...selector }: ListSelector = {},
    ): Promise<T[]> {
      const accept = metadataOnly ? justMetadata : undefined;
      const ask: AskForPage<T> = (query, longestBytes) => page(kind, namespace, query, longestBytes, accept);
      const wholeList = (): Promise<T[]> => collect(kind, pagesOf(ask, { ...selector }, refuse));
      try {
        return await wholeList();
      } catch (error) {
        if (!hasCode(error, 410)) throw error; // 410: slower than the server keeps old versions; start over, once
        return wholeList();
      }
    },
    async podLog({ namespace, name }, { container, previous, tailLines, limitBytes }) {
      const path = objectPath({ kind: 'Pod', namespace, name, subresource: 'log' });
      const query = { container, tailLines: `${tailLines}`, limitBytes: `${limitBytes}`, previous: `${previous}` };
      try {
        return await transport.text({ method: 'GET', path, query, accept: anything }, longestLogMs);
      } catch (error) {
        // 400: the container has not run yet, or has not run before.
        if (isNotFound(error) || hasCode(error, 400)) return undefined;
        throw error;
      }
    },
    create: async ({ kind, namespace }, body, options) =>
      write({ method: 'POST', path: collectionPath(kind, namespace), query: writeQuery(options), body }),
    createSub: async (ref, body, options) =>
      write({ method: 'POST', path: objectPath(ref), query: writeQuery(options), body }),
    patch: async (ref, type, body, options) =>
      write({
        method: 'PATCH',
        path: objectPath(ref),
        query: writeQuery(options),
        body,
        contentType: patchContentTypes[type],
      }),
    async delete(ref, preconditions, options = {}) {
      const body = deleteOptions(preconditions, options);
      const query: Record<string, string> = options.dryRun ? { dryRun: 'All' } : {};
      await write({ method: 'DELETE', path: objectPath(ref), query, body });
    },
    async *watch(kind, namespace, query, signal) {
      const path = collectionPath(kind, namespace);
      for await (const line of transport.lines({ method: 'GET', path, query: { ...query, watch: 'true' } }, signal)) {
        if (line instanceof LongLine) {
          yield { type: 'TOO LARGE', object: identityOfLong(line) };
          continue;
        }
        if (!isWatchLine(line)) throw badAnswer(server, `not a line of a watch: ${cut(JSON.stringify(line), 200)}`);
        yield line;
      }
    },
  };
}

const guarded = (parts: Parts, check: () => void): Parts => ({
  ...parts,
  withToken: (token) => parts.withToken(token).guardedBy(check),
  check() {
    parts.check?.();
    check();
  },
});

/** A list that a decision rests on is whole, or there is none. */
function refuse(error: TooLarge): never {
  throw error;
}

/** If a DELETE has a body, the API server reads its options only from there, so dryRun must be in the body. */
const deleteOptions = (
  preconditions: Preconditions | undefined,
  { dryRun = false, gracePeriodSeconds }: DeleteOptions,
): object => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  propagationPolicy: 'Background',
  ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
  ...(preconditions && { preconditions }),
  ...(dryRun && { dryRun: ['All'] }),
});

function identityOfLong({ head }: LongLine): KubeObject {
  const object = identityInHead(head);
  if (!object) throw new TooLarge(`a line of a watch (${cut(head, 100)})`, longestObjectBytes);
  return object;
}

const lineTypes: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

function isWatchLine(line: unknown): line is WatchLine {
  const { type, object } = line as Partial<WatchLine>;
  return lineTypes.has(type) && typeof object === 'object' && object !== null;
}
