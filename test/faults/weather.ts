import { Unreachable } from '../../src/kube/api.ts';
import { badAnswer } from '../../src/kube/client-transport.ts';
import { type Clock, untilAborted } from '../../src/lib/clock.ts';
import { RetryLater } from '../../src/lib/errors.ts';
import type { ApiServer } from '../../src/sim/api/api-server.ts';
import type { ApiAnswer, ApiRequest } from '../../src/sim/api/model.ts';
import type { Random } from '../long/random.ts';
import {
  type ChatFault,
  chatFaults,
  type RequestFault,
  requestFaults,
  type Part,
  type Spell,
  type WatchFault,
  watchFaults,
} from './plan.ts';

interface WeatherDeps {
  clock: Clock;
  random: Random;
  spells: readonly Spell[];
  startMs: number;
}

/** What goes wrong now, as the spells say; it counts what did. */
export interface Weather {
  /** `patienceMs`: how long the client waits for an answer. */
  server(server: Pick<ApiServer, 'handle'>, part: Part, patienceMs?: number): Pick<ApiServer, 'handle'>;
  /** A call of the vendor. `onLost`: it was taken, and its answer will not arrive. */
  vendorCall<T>(call: () => Promise<T>, onLost: () => void): Promise<T>;
  counts: Map<string, number>;
  /** When a request of such a process went wrong last. */
  lastMs(part: Part): number;
}

/** How long our client waits for an answer, and a vendor's. */
const usualPatienceMs = 15_000;
const chatNoAnswerMs = 20_000;

const status = (code: number, message: string, retryAfterSeconds?: number): ApiAnswer => ({
  status: code,
  body: {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    message,
    ...(retryAfterSeconds && { details: { retryAfterSeconds } }),
  },
});

/** As our client says it: what it may repeat depends on that. */
const brokenOff = (): Unreachable => new Unreachable('read ECONNRESET', { cause: { code: 'ECONNRESET' } });

export function createWeather({ clock, random, spells, startMs }: WeatherDeps): Weather {
  const counts = new Map<string, number>();

  const last = new Map<Part, number>();

  function strikes<T extends string>(kinds: readonly T[], part: Part = 'all'): T | undefined {
    const atMs = clock.now() - startMs;
    for (const { what, role: whose, fromMs, forMs, share } of spells) {
      const isOn = atMs >= fromMs && atMs < fromMs + forMs && (whose === 'both' || part === 'all' || whose === part);
      if (!isOn || !(kinds as readonly string[]).includes(what) || !random.chance(share)) continue;
      counts.set(what, (counts.get(what) ?? 0) + 1);
      return what as T;
    }
    return undefined;
  }

  async function answered(fault: RequestFault, ask: () => Promise<ApiAnswer>, patienceMs: number): Promise<ApiAnswer> {
    const timedOut = async (): Promise<never> => {
      await clock.sleep(patienceMs);
      throw new Unreachable('no answer in time');
    };
    switch (fault) {
      case '429':
        return status(429, 'the server has received too many requests', random.int(1, 3));
      case '500':
        return status(500, 'etcdserver: leader changed');
      case '503':
        return status(503, 'apiserver is shutting down', random.int(1, 2));
      case 'reset':
        throw brokenOff();
      case 'lost':
        await ask();
        throw brokenOff();
      case 'black hole':
        if (random.chance(0.5)) await ask();
        return timedOut();
      case 'slow':
      case 'drip': {
        const answer = clock.sleep(random.int(100, 10_000)).then(ask); // it arrives, whoever still waits for it
        answer.catch(() => undefined);
        return Promise.race([answer, timedOut()]);
      }
      case 'garbage':
        if (random.chance(0.5)) await ask();
        throw badAnswer('in this process', 'not JSON: <html>');
    }
  }

  async function* broken(lines: AsyncIterable<object>, part: Part, signal: AbortSignal): AsyncGenerator<object> {
    for await (const line of lines) {
      const fault = strikes<WatchFault>(watchFaults, part);
      if (!fault) {
        yield line;
        continue;
      }
      if (fault === '410')
        yield { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', metadata: {} } };
      if (fault === '410') return;
      if (fault === 'garbage line') yield { odd: true };
      if (fault === 'truncated line') throw new Unreachable('it ended in the middle of a line');
      if (fault === 'cut') throw brokenOff();
      if (fault === 'half-open') await untilAborted(new Promise<never>(() => undefined), signal).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  const isWatch = ({ query }: ApiRequest): boolean => query['watch'] === 'true';

  return {
    counts,
    lastMs: (part) => last.get(part) ?? 0,
    server: (server, part, patienceMs = usualPatienceMs) => ({
      async handle(request) {
        const fault = strikes<RequestFault>(requestFaults, part);
        if (fault) last.set(part, clock.now());
        const ask = (): Promise<ApiAnswer> => server.handle(request);
        const answer = await (fault ? answered(fault, ask, patienceMs) : ask());
        if (!answer.lines || !isWatch(request)) return answer;
        return { ...answer, lines: broken(answer.lines, part, request.signal!) };
      },
    }),
    async vendorCall(call, onLost) {
      const fault = strikes<ChatFault>(chatFaults);
      if (fault === 'chat 429') throw new RetryLater('Too Many Requests', random.int(1, 30) * 1000);
      if (fault === 'chat 500')
        throw random.pick([new RetryLater('Bad Gateway', 5_000), new Error('Internal Server Error')]);
      if (fault === 'chat no answer') await clock.sleep(chatNoAnswerMs);
      if (fault === 'chat no answer') throw new RetryLater('no answer', 5_000);
      if (fault === 'chat slow') await clock.sleep(random.int(500, 8_000));
      const answer = await call();
      if (fault !== 'chat lost') return answer;
      onLost();
      throw new RetryLater('socket hang up', 5_000);
    },
  };
}
