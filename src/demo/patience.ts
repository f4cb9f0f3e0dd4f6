import { randomUUID } from 'node:crypto';
import { type Api, ApiError, isConflict, isNotFound, type KubeObject, Unreachable } from '../kube/api.ts';
import type { Clock } from '../lib/clock.ts';
import { spokenDuration } from '../lib/duration.ts';
import { messageOf, UserError } from '../lib/errors.ts';

/** How long to wait for a cluster, by which clock, and what ends the wait early. */
export interface WaitOptions {
  clock: Clock;
  signal: AbortSignal;
  forMs: number;
}

const everyMs = 200;

/**
 * Whether it became true in time. An API server that is away for a while is no reason to give up; `lastError` is its last
 * answer, in case nothing happens.
 */
export async function waitUntil(
  isTrue: () => Promise<boolean> | boolean,
  { clock, signal, forMs }: WaitOptions,
): Promise<{ ok: boolean; lastError: string }> {
  const untilMs = clock.now() + forMs;
  let lastError = '';
  while (!signal.aborted && clock.now() < untilMs) {
    try {
      if (await isTrue()) return { ok: true, lastError };
      lastError = '';
    } catch (error) {
      lastError = messageOf(error);
    }
    await clock.sleep(everyMs, signal);
  }
  return { ok: false, lastError };
}

/** As waitUntil, but fails when the time is over. `else`: "the quota is not in force". */
export async function mustBecomeTrue(
  isTrue: () => Promise<boolean> | boolean,
  { else: words, ...patience }: WaitOptions & { else: string },
): Promise<void> {
  const { ok, lastError } = await waitUntil(isTrue, patience);
  if (ok || patience.signal.aborted) return;
  throw new UserError(`${words} after ${spokenDuration(patience.forMs)}${lastError ? `: ${lastError}` : ''}`);
}

export interface PatientDeps {
  clock: Clock;
  /** Aborts when the person wants to stop; then nothing is tried again. */
  signal: AbortSignal;
  /** The shop's namespace. Nobody else creates anything there, so objects there need no mark, which would show on a card. */
  own: string;
}

/** The longest time for one call, with all its tries. */
const longestMs = 120_000;
const restMs = 500;

/** Marks an object outside the shop's namespace with the call that created it. */
const callAnnotation = 'tapfix.dev/demo-call';

const mayPass = (error: unknown): boolean =>
  error instanceof Unreachable || (error instanceof ApiError && (error.code >= 500 || error.code === 429));

/**
 * The demo's own calls, repeated while the API server is away or too busy: a demo that ends in the middle shows nothing.
 * tapfix's calls do not go through here, because tapfix repeats them itself.
 */
export function patientApi<A extends Api>(api: A, { clock, signal, own }: PatientDeps): A {
  async function retry<T>(call: (isFirst: boolean) => Promise<T>): Promise<T> {
    const untilMs = clock.now() + longestMs;
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await call(isFirst);
      } catch (error) {
        if (!mayPass(error) || signal.aborted || clock.now() >= untilMs) throw error;
      }
      await clock.sleep(restMs, signal);
    }
  }

  /** A call whose answer was lost may have created the object. An object that somebody else made is still a conflict. */
  const create: Api['create'] = async <T extends KubeObject>(...[place, body, options]: Parameters<Api['create']>) => {
    const { name } = (body as Partial<KubeObject>).metadata ?? {};
    const id = randomUUID();
    const isOwn = place.namespace === own;
    return retry(async (isFirst) => {
      try {
        return await api.create<T>(place, name && !isOwn ? marked(body as KubeObject, id) : body, options);
      } catch (error) {
        const there = !isFirst && name && isConflict(error) ? await api.get<T>({ ...place, name }) : undefined;
        if (!there || (!isOwn && there.metadata.annotations?.[callAnnotation] !== id)) throw error;
        return there;
      }
    });
  };

  const patient: Pick<Api, 'get' | 'list' | 'create' | 'patch' | 'delete'> = {
    get: (ref) => retry(() => api.get(ref)),
    list: (kind, namespace, selector) => retry(() => api.list(kind, namespace, selector)),
    create,
    patch: (ref, type, body, options) => retry(() => api.patch(ref, type, body, options)),
    delete: (ref, preconditions, options) =>
      retry(async (isFirst) => {
        try {
          await api.delete(ref, preconditions, options);
        } catch (error) {
          if (isFirst || !isNotFound(error)) throw error;
        }
      }),
  };
  return { ...api, ...patient };
}

const marked = (body: KubeObject, id: string): object => ({
  ...body,
  metadata: { ...body.metadata, annotations: { ...body.metadata.annotations, [callAnnotation]: id } },
});
