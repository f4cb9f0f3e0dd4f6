import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** The server's end of one WebSocket, as much of RFC 6455 as Slack's sockets need: short texts, pings, a close. */
export interface WebSocketEnd {
  send(text: string): void;
  /** Without a farewell, as a network breaks. */
  destroy(): void;
  onText(listener: (text: string) => void): void;
  onEnd(listener: () => void): void;
  /** From now on nothing is read or answered, not even a ping. */
  goDeaf(): void;
}

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const opcodes = { text: 1, close: 8, ping: 9, pong: 10 } as const;

export function acceptWebSocket(request: IncomingMessage, socket: Duplex): WebSocketEnd {
  const key = createHash('sha1').update(`${request.headers['sec-websocket-key']}${guid}`).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`,
  );
  const listeners: ((text: string) => void)[] = [];
  let unread = Buffer.alloc(0);
  let isDeaf = false;

  const write = (opcode: number, payload: Buffer): void => {
    if (socket.writable && !isDeaf) socket.write(Buffer.concat([header(opcode, payload.length), payload]));
  };
  socket.on('error', () => socket.destroy());
  socket.on('end', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    if (isDeaf) return;
    unread = Buffer.concat([unread, chunk]);
    for (let frame = frameIn(unread); frame; frame = frameIn(unread)) {
      unread = unread.subarray(frame.size);
      const { opcode, payload } = frame;
      if (opcode === opcodes.ping) write(opcodes.pong, payload);
      if (opcode === opcodes.text) for (const listener of listeners) listener(payload.toString());
      // Slack answers the farewell and leaves the connection open.
      if (opcode === opcodes.close) write(opcodes.close, payload);
    }
  });
  return {
    send: (text) => write(opcodes.text, Buffer.from(text)),
    destroy: () => void socket.destroy(),
    onText: (listener) => void listeners.push(listener),
    onEnd: (listener) => void socket.once('close', listener),
    goDeaf: () => void (isDeaf = true),
  };
}

function header(opcode: number, length: number): Buffer {
  if (length < 126) return Buffer.from([0x80 | opcode, length]);
  const long = Buffer.from([0x80 | opcode, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  long.writeBigUInt64BE(BigInt(length), 2);
  return long;
}

/** The first whole frame; a client's are always masked. */
function frameIn(bytes: Buffer): { opcode: number; payload: Buffer; size: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes[1]! & 0x7f;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (bytes.length < 6 + extra) return undefined;
  const length = extra === 0 ? short : extra === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const start = 6 + extra;
  if (bytes.length < start + length) return undefined;
  const mask = bytes.subarray(start - 4, start);
  const payload = Buffer.from(bytes.subarray(start, start + length).map((byte, index) => byte ^ mask[index % 4]!));
  return { opcode: bytes[0]! & 0x0f, payload, size: start + length };
}
