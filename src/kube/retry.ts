import { type Clock, untilAborted } from '../lib/clock.ts';
import type { Bucket } from '../lib/bucket.ts';
import { ApiError, isRefusedUnprocessed, isUnserved, Unreachable } from './api.ts';
import type { Call, Transport } from './client-transport.ts';
import { isAnswer, type Outage } from './outage.ts';
import { resources } from './resources.ts';

/** If the server refuses a request unprocessed, but does not say for how long. */
const usualPauseMs = 1_000;
const firstPauseMs = 100;
/** How often a read is sent when the server fails. An outage is not waited for here. */
const mostReads = 4;

/**
 * How long to wait before the same request is sent once more, after so many failures in a row; undefined = its error is
 * the answer. A request that was refused unprocessed may always be repeated. A write after which nothing is known may
 * not: it may have arrived.
 */
export function pauseBeforeRepeat(
  call: Pick<Call, 'method' | 'path'>,
  error: unknown,
  { failures, random }: { failures: number; random: () => number },
): number | undefined {
  if (!isAnsweredByServer(call.path)) return undefined;
  if (isRefusedUnprocessed(error)) return (error.retryAfterMs ?? usualPauseMs) * (1 + random() / 10);
  if (call.method !== 'GET' || failures >= mostReads || !hasFailed(error)) return undefined;
  return firstPauseMs * 3 ** (failures - 1) * (0.5 + random());
}

/** The server failed, or a connection to it broke. An answer that never came has taken the call's whole time already. */
const hasFailed = (error: unknown): boolean =>
  error instanceof ApiError ? error.code >= 500 : error instanceof Unreachable && brokenCodes.has(codeOf(error.cause));

const brokenCodes: ReadonlySet<unknown> = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'UND_ERR_SOCKET']);
const codeOf = (cause: unknown): unknown => (cause as { code?: unknown } | undefined)?.code;

const ownGroups: ReadonlySet<string> = new Set(Object.values(resources).map(({ group }) => group));

/**
 * False where the answer is not the API server's own word about its load: 429 for an eviction means that a
 * PodDisruptionBudget forbids it, and an aggregated API (such as metrics.k8s.io) answers for itself.
 */
export function isAnsweredByServer(path: string): boolean {
  if (path.endsWith('/eviction')) return false;
  const [, group = ''] = /^\/apis\/([^/]+)\//.exec(path) ?? [];
  return ownGroups.has(group);
}

export interface PatientOptions {
  clock: Clock;
  random: () => number;
  /** False: each request is sent once. */
  retry: boolean;
  /** The client's own limit. Waiting for it is not counted in a call's time. */
  limit?: Bucket | undefined;
  /** Hears what becomes of each request. */
  outage?: Outage | undefined;
  /** The time for a whole call, all its requests and the pauses between them. */
  timeoutMs: number;
  /** Aborts when nobody waits for an answer any more. */
  closed?: AbortSignal;
}

/** A transport that keeps to a limit, and repeats what the server asks to repeat. Watches are repeated by their owner. */
export function patientTransport(inner: Transport, options: PatientOptions): Transport {
  const { clock, random, retry, limit, outage, timeoutMs, closed } = options;

  function hear({ path }: Call, error: unknown): void {
    const isOthersWord = error instanceof ApiError && !isAnsweredByServer(path);
    if (isOthersWord || isAnswer(error)) outage?.reached();
    else if (isUnserved(error)) outage?.failed(error);
  }

  async function send<T>(call: Call, longestMs: number, once: (leftMs: number) => Promise<T>): Promise<T> {
    let leftMs = longestMs;
    for (let failures = 1; ; failures += 1) {
      await limit?.turn();
      const sentMs = clock.now();
      try {
        const answer = await once(leftMs);
        outage?.reached();
        return answer;
      } catch (error) {
        hear(call, error);
        const pauseMs = retry ? pauseBeforeRepeat(call, error, { failures, random }) : undefined;
        leftMs -= Math.max(0, clock.now() - sentMs);
        if (pauseMs === undefined || pauseMs >= leftMs) throw error;
        await clock.sleep(pauseMs, closed);
        if (closed?.aborted) throw error;
        leftMs -= pauseMs;
      }
    }
  }

  return {
    answer: (call, longestMs = timeoutMs) => send(call, longestMs, (leftMs) => inner.answer(call, leftMs)),
    text: (call, longestMs = timeoutMs) => send(call, longestMs, (leftMs) => inner.text(call, leftMs)),
    async *lines(call, signal) {
      if (limit) await untilAborted(limit.turn(), signal).catch(() => undefined);
      if (signal.aborted) return;
      let isOpen = false;
      const onOpen = (): void => {
        isOpen = true;
        outage?.reached();
      };
      try {
        for await (const line of inner.lines({ ...call, onOpen }, signal)) {
          outage?.reached();
          yield line;
        }
      } catch (error) {
        if (!isOpen) hear(call, error); // a stream that breaks says nothing yet: the next one may be opened at once
        throw error;
      }
    },
  };
}
