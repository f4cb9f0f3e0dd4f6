import { type Dispatcher, request, WebSocket } from 'undici';
import { ApiError } from '../api.ts';
import { createAgents, identityOf, type KubeCredentials, serverOf } from '../client-credentials.ts';
import { errorOf, LongLine, linesOf } from '../client-transport.ts';
import { pathOf } from '../resources.ts';

/** A person's long connections to a pod: a log that is followed, and a port that is forwarded. The roles use neither. */
export interface Streams {
  /** The lines as they are written; ends when the container or the signal does. */
  log(pod: PodRef, query: LogQuery, signal: AbortSignal): AsyncGenerator<string>;
  /** One connection to a port of the pod. Throws ApiError when the API server refuses it. */
  forward(pod: PodRef, port: number, hears: Hears): Promise<Forwarded>;
  close(): Promise<void>;
}

export interface PodRef {
  namespace: string;
  name: string;
}

interface LogQuery {
  container: string;
  tailLines: number;
  follow: boolean;
}

/** Called with what comes from the pod. */
interface Hears {
  data(bytes: Uint8Array): void;
  /** The kubelet's reason when the port does not answer. */
  problem(text: string): void;
  end(): void;
}

export interface Forwarded {
  send(bytes: Uint8Array): void;
  end(): void;
}

const longestLineBytes = 1024 * 1024;
const longestErrorCharacters = 4096;
/** https://kubernetes.io/docs/reference/using-api/api-concepts/: binary channels, a byte in front of each message says which. */
const protocol = 'v4.channel.k8s.io';
const [dataChannel, errorChannel] = [0, 1];
/** The first message of each channel holds the port. */
const portBytes = 2;

export function createStreams(kubeConfig: KubeCredentials): Streams {
  const { address: server, proxy } = serverOf(kubeConfig);
  const agents = createAgents(proxy);
  const identity = identityOf(kubeConfig);

  async function open(path: string, signal?: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { tls, headers } = await identity();
    const answer = await request(`${server}${path}`, {
      dispatcher: agents.for(tls).streams,
      method: 'GET',
      headers: { accept: 'application/json, */*', ...headers },
      ...(signal && { signal }),
    });
    if (answer.statusCode < 300) return answer;
    const text = (await answer.body.text()).slice(0, longestErrorCharacters);
    throw errorOf(answer.statusCode, answer.headers, text, path);
  }

  return {
    async *log({ namespace, name }, { container, tailLines, follow }, signal) {
      const query = new URLSearchParams({ container, tailLines: `${tailLines}`, follow: `${follow}` });
      try {
        const { body } = await open(`${pathOf('Pod', namespace, name, 'log')}?${query.toString()}`, signal);
        for await (const line of linesOf(ended(body), longestLineBytes))
          yield line instanceof LongLine ? line.head : line;
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    async forward({ namespace, name }, port, hears) {
      const path = `${pathOf('Pod', namespace, name, 'portforward')}?ports=${port}`;
      const { tls, headers } = await identity();
      const socket = new WebSocket(`${server.replace(/^http/, 'ws')}${path}`, {
        protocols: [protocol],
        dispatcher: agents.for(tls).streams,
        headers,
      });
      socket.binaryType = 'arraybuffer';
      const isOpen = await new Promise<boolean>((resolve) => {
        socket.addEventListener('open', () => resolve(true));
        socket.addEventListener('error', () => resolve(false));
        socket.addEventListener('close', () => resolve(false));
      });
      // A WebSocket does not say why it was refused; the same request without an upgrade does.
      if (!isOpen) throw await whyRefused(() => open(path));
      const waitsForPort = new Set([dataChannel, errorChannel]);
      socket.addEventListener('message', ({ data }: { data: unknown }) => {
        if (!(data instanceof ArrayBuffer) || data.byteLength === 0) return;
        const bytes = new Uint8Array(data);
        const channel = bytes[0]!;
        const content = bytes.subarray(waitsForPort.delete(channel) ? 1 + portBytes : 1);
        if (content.length === 0) return;
        if (channel === dataChannel) hears.data(content);
        else if (channel === errorChannel) hears.problem(new TextDecoder().decode(content));
      });
      socket.addEventListener('close', () => hears.end());
      return {
        send(bytes) {
          if (socket.readyState !== WebSocket.OPEN) return;
          const message = new Uint8Array(bytes.length + 1);
          message[0] = dataChannel;
          message.set(bytes, 1);
          socket.send(message);
        },
        end: () => socket.close(),
      };
    },
    close: () => agents.close(),
  };
}

/** A log may end without a newline. */
async function* ended(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let last = 0x0a;
  for await (const chunk of chunks) {
    last = chunk.at(-1) ?? last;
    yield chunk;
  }
  if (last !== 0x0a) yield Buffer.from('\n');
}

async function whyRefused(ask: () => Promise<Dispatcher.ResponseData>): Promise<Error> {
  try {
    await (await ask()).body.dump();
  } catch (error) {
    // 400: an upgrade is required, so the request itself is allowed, and the connection broke.
    if (error instanceof ApiError && error.code !== 400) return error;
  }
  return new ApiError('the connection to the pod was not accepted', 502, 'BadGateway');
}
