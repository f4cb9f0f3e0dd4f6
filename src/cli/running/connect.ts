import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { isForbidden, type KubeObject } from '../../kube/api.ts';
import { arr, num, specIn, str } from '../../kube/raw.ts';
import type { PodRef, Streams } from '../../kube/streams/streams.ts';
import { untilAborted } from '../../lib/clock.ts';
import { spokenDuration } from '../../lib/duration.ts';
import { messageOf, UserError } from '../../lib/errors.ts';
import type { ClusterOptions, Session } from '../cluster-session.ts';
import { isReady, mustBeInstalled, type PodRole, readPods, readRole, readyPod, whyNone } from './role-pods.ts';

export interface ConnectOptions extends ClusterOptions {
  role: PodRole;
  /** The port on this machine; if it is taken, a free one. */
  port: number;
  /** The port of the pod; by default the one called "http". */
  remote?: number;
}

const pollMs = 1_000;
/** Longer than an image takes that is not too large. */
const patienceMs = 120_000;

/** `tapfix connect`: a port of this machine leads to a pod of the role, until somebody presses Ctrl-C. */
export async function runConnect({ role, port, remote }: ConnectOptions, session: Session): Promise<number> {
  const { io, clock, ownNamespace: namespace, streams } = session;
  const signal = io.stopSignal();
  let pod = await waitForPod(role, session, signal);
  if (!pod) return 0;
  const target = remote ?? httpPortOf(pod);
  const door = await openDoor({
    wanted: port,
    streams,
    target,
    pod: () => pod && { namespace, name: pod.metadata.name },
    complain: io.complain,
  });
  try {
    if (port !== 0 && door.port !== port) io.complain(`port ${port} of this machine is taken, so it is ${door.port}`);
    io.print(`http://127.0.0.1:${door.port} leads to pod ${pod.metadata.name}, port ${target}; Ctrl-C ends it`);
    while (!signal.aborted) {
      await clock.sleep(pollMs, signal);
      if (signal.aborted) break;
      if (await isStillReady(pod, role, session, signal)) continue;
      io.complain(`pod ${pod.metadata.name} is no longer ready; looking for another one`);
      const before = pod.metadata.uid;
      pod = await waitForPod(role, session, signal);
      if (!pod) break;
      if (pod.metadata.uid !== before) door.hangUp();
      io.print(`connected to pod ${pod.metadata.name}`);
    }
    return 0;
  } finally {
    await door.close();
  }
}

/** True also while the API server is away: the connection may live on. */
async function isStillReady(
  pod: KubeObject,
  role: PodRole,
  { api, ownNamespace }: Session,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const pods = await untilAborted(readPods(api, ownNamespace, role), signal);
    return pods.some((one) => one.metadata.uid === pod.metadata.uid && isReady(one));
  } catch (error) {
    if (isForbidden(error)) throw error;
    return true;
  }
}

/** A pod that is Running and Ready. Throws the reason as soon as waiting is in vain; undefined when asked to stop. */
export async function waitForPod(
  role: PodRole,
  { api, io, clock, ownNamespace }: Pick<Session, 'api' | 'io' | 'clock' | 'ownNamespace'>,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const sinceMs = clock.now();
  let lastSaid = '';
  while (!signal.aborted) {
    const facts = await untilAborted(readRole(api, ownNamespace, role), signal).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    });
    if (!facts) break;
    mustBeInstalled(facts, ownNamespace);
    const pod = readyPod(facts);
    if (pod) return pod;
    const nowMs = clock.now();
    const { why, isStuck } = whyNone(facts, nowMs);
    if (isStuck) throw new UserError(`the ${role} is not ready: ${why}`);
    if (nowMs - sinceMs >= patienceMs)
      throw new UserError(`the ${role} was not ready within ${spokenDuration(patienceMs)}: ${why}`);
    if (why !== lastSaid) io.complain(`waiting: ${why}`);
    lastSaid = why;
    await clock.sleep(pollMs, signal);
  }
  return undefined;
}

const usualPort = 8080;

function httpPortOf(pod: KubeObject): number {
  const ports = arr(specIn(pod)['containers']).flatMap((container) => arr(container['ports']));
  const found = ports.find((one) => str(one['name']) === 'http');
  return num(found?.['containerPort'], usualPort);
}

interface Door {
  port: number;
  /** Ends the connections to a pod that is gone; the clients connect again. */
  hangUp(): void;
  close(): Promise<void>;
}

interface DoorDeps {
  wanted: number;
  target: number;
  streams: Pick<Streams, 'forward'>;
  /** The pod at this moment. */
  pod(): PodRef | undefined;
  complain(text: string): void;
}

/** Listens on this machine only. Each connection is one of its own to the pod. */
export async function openDoor({ wanted, target, streams, pod, complain }: DoorDeps): Promise<Door> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const to = pod();
    if (!to) return void socket.destroy();
    void lead(socket, to).catch((error: unknown) => {
      complain(`no connection to pod ${to.name}: ${messageOf(error)}`);
      socket.destroy();
    });
  });

  async function lead(socket: Socket, to: PodRef): Promise<void> {
    socket.pause();
    const far = await streams.forward(to, target, {
      data: (bytes) => void socket.write(bytes),
      problem: (text) => complain(`pod ${to.name}: ${text.trim()}`),
      end: () => void socket.end(),
    });
    socket.on('data', (bytes: Buffer) => far.send(bytes));
    socket.on('close', () => far.end());
    if (socket.destroyed) far.end();
    socket.resume();
  }

  const port = await listenOn(server, wanted);
  return {
    port,
    hangUp() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The wanted port, or if it is taken or not for everybody, any free one. */
async function listenOn(server: Server, wanted: number): Promise<number> {
  for (const port of [wanted, 0]) {
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (port === 0 || (code !== 'EADDRINUSE' && code !== 'EACCES')) throw error;
    }
  }
  throw new UserError('no port of this machine is free');
}
