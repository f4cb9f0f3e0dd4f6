import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';

/** A line to a server that can go dead: connections are taken and nothing comes through. */
export interface Line {
  url: string;
  goDead(): void;
  comeBack(): void;
  close(): Promise<void>;
}

export async function startLine(address: string, to: string): Promise<Line> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  let isDead = false;
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
  };
  const endAll = (): void => sockets.forEach((socket) => socket.destroy());
  const server = createServer((near) => {
    track(near);
    if (isDead) return;
    const far = track(createConnection({ host: hostname, port: Number(port) }));
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  return {
    url: `http://${address}:${(server.address() as AddressInfo).port}`,
    goDead() {
      isDead = true;
      endAll();
    },
    comeBack() {
      isDead = false;
      endAll();
    },
    async close() {
      endAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
