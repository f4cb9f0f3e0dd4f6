import { randomUUID } from 'node:crypto';
import { type Api, ApiError, isConflict, isNotFound, type KubeObject, Unreachable } from '../kube/api.ts';
import type { Clock } from '../lib/clock.ts';

export interface PatientDeps {
  clock: Clock;
  /** Whoever wants to stop is not kept waiting. */
  signal: AbortSignal;
  /** The shop's namespace: nobody else makes anything there, so nothing there needs a mark that would show on a card. */
  own: string;
}

/** Nobody waits longer than this for an answer. */
const longestMs = 120_000;
const restMs = 500;

/** On what was created in the cluster at large: by which call. */
const callAnnotation = 'tapfix.dev/demo-call';

const mayPass = (error: unknown): boolean =>
  error instanceof Unreachable || (error instanceof ApiError && (error.code >= 500 || error.code === 429));

/**
 * What the demo asks of the API server itself is asked again while that is away or has too much to do: a demo that ends
 * in the middle shows nothing. tapfix is patient by itself, and gets none of this.
 */
export function patientApi<A extends Api>(api: A, { clock, signal, own }: PatientDeps): A {
  async function insist<T>(call: (isFirst: boolean) => Promise<T>): Promise<T> {
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

  /** A try whose answer was lost may have arrived; what somebody else made is still refused. */
  const create: Api['create'] = async <T extends KubeObject>(...[place, body, options]: Parameters<Api['create']>) => {
    const { name } = (body as Partial<KubeObject>).metadata ?? {};
    const id = randomUUID();
    const isOwn = place.namespace === own;
    return insist(async (isFirst) => {
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
    get: (ref) => insist(() => api.get(ref)),
    list: (kind, namespace, selector) => insist(() => api.list(kind, namespace, selector)),
    create,
    patch: (ref, type, body, options) => insist(() => api.patch(ref, type, body, options)),
    delete: (ref, preconditions, options) =>
      insist(async (isFirst) => {
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
