import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TestContext } from 'node:test';

/*
 * The API server's end of a forwarded port, as strict as the real one: binary channels of v4.channel.k8s.io, of which each
 * begins with the port, and a Status for who may not.
 */

export interface FakePod {
  /** The answer to what a client sends. */
  answer?(request: string): string;
  /** On the error channel, instead of an answer. */
  problem?: string;
  /** A refusal: an HTTP status with a Status object. */
  refused?: { code: number; reason: string; message: string };
}

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const path = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/portforward\?ports=(\d+)$/;

export async function startPortForward(t: Pick<TestContext, 'after'>, pods: Record<string, FakePod>) {
  const sockets = new Set<Duplex>();
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const { code = 400, ...status } = podOf(request)?.refused ?? {
      reason: 'BadRequest',
      message: 'Upgrade request required',
    };
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ kind: 'Status', code, ...status }));
  });
  const podOf = (request: IncomingMessage): FakePod | undefined => pods[path.exec(request.url ?? '')?.[2] ?? ''];

  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    const pod = podOf(request);
    const offered = String(request.headers['sec-websocket-protocol'] ?? '').split(/, ?/);
    if (
      !pod ||
      pod.refused ||
      !offered.includes('v4.channel.k8s.io') ||
      request.headers.authorization !== 'Bearer mine'
    )
      return void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    const [, , name, port] = path.exec(request.url ?? '')!;
    seen.push(`${name}:${port}`);
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${guid}`).digest('base64');
    const headers = [
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Accept: ${accept}`,
      'Sec-WebSocket-Protocol: v4.channel.k8s.io',
    ];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers.join('\r\n')}\r\n\r\n`);
    const portBytes = Buffer.alloc(2);
    portBytes.writeUInt16LE(Number(port));
    for (const channel of [0, 1]) socket.write(frame(2, Buffer.concat([Buffer.from([channel]), portBytes])));
    let unread = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk]);
      for (let one = frameIn(unread); one; one = frameIn(unread)) {
        unread = unread.subarray(one.size);
        if (one.opcode === 8) return void socket.end(frame(8, one.payload));
        if (one.opcode !== 2 || one.payload[0] !== 0) return void socket.destroy();
        const [channel, text] =
          pod.problem === undefined ? [0, pod.answer?.(one.payload.subarray(1).toString()) ?? ''] : [1, pod.problem];
        socket.write(frame(2, Buffer.concat([Buffer.from([channel]), Buffer.from(text)])));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeConfig = {
    getCurrentCluster: () => ({ name: 'test', server: url, skipTLSVerify: true }),
    applyToHTTPSOptions: async (options: { headers?: object }) =>
      void (options.headers = { authorization: 'Bearer mine' }),
  };
  return { url, seen, kubeConfig, open: () => [...sockets].filter((socket) => !socket.destroyed).length };
}

function frame(opcode: number, payload: Buffer): Buffer {
  if (payload.length < 126) return Buffer.concat([Buffer.from([0x80 | opcode, payload.length]), payload]);
  const head = Buffer.from([0x80 | opcode, 126, 0, 0]);
  head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}

/** The first whole frame; a client's are always masked, and here always short. */
function frameIn(bytes: Buffer): { opcode: number; payload: Buffer; size: number } | undefined {
  if (bytes.length < 6) return undefined;
  const short = bytes[1]! & 0x7f;
  const extra = short === 126 ? 2 : 0;
  const length = extra ? bytes.readUInt16BE(2) : short;
  const start = 6 + extra;
  if (bytes.length < start + length) return undefined;
  const mask = bytes.subarray(start - 4, start);
  const payload = Buffer.from(bytes.subarray(start, start + length).map((byte, index) => byte ^ mask[index % 4]!));
  return { opcode: bytes[0]! & 0x0f, payload, size: start + length };
}
