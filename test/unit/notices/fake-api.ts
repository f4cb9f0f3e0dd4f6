import type { Api, KubeObject } from '../../../src/kube/api.ts';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import type { Notice } from '../../../src/kube/notice.ts';
import { noticeSpecSchema } from '../../../src/kube/notice.ts';
import type { Ref } from '../../../src/kube/resources.ts';
import type { Change } from '../../../src/kube/watch.ts';
import { at } from '../../support/fixes.ts';

type Fault = 'lost before' | 'lost after';
type Call = 'create' | 'patch' | 'patch status' | 'delete';

/** Notices as the API server keeps them, in memory, with a watch and with answers that get lost on demand. */
export function fakeNotices() {
  const notices = new Map<string, Notice>();
  const faults: { call: Call; fault: Fault }[] = [];
  const calls: Call[] = [];
  let version = 0;
  let onChange: (change: Change<Notice>) => void = () => {};

  function around<T>(call: Call, work: () => T): T {
    calls.push(call);
    const index = faults.findIndex((planned) => planned.call === call);
    const fault = index >= 0 ? faults.splice(index, 1)[0]!.fault : undefined;
    if (fault === 'lost before') throw new Unreachable('no route to host');
    const result = work();
    if (fault === 'lost after') throw new Unreachable('connection reset');
    return structuredClone(result);
  }
  function put(notice: Notice): Notice {
    const stored = structuredClone({ ...notice, metadata: { ...notice.metadata, resourceVersion: String(++version) } });
    notices.set(notice.metadata.name, stored);
    onChange({ type: 'upsert', view: structuredClone(stored) });
    return stored;
  }
  function existing(name: string): Notice {
    const notice = notices.get(name);
    if (!notice) throw new ApiError('not found', 404, 'NotFound');
    return notice;
  }

  const api = {
    create: async <T extends KubeObject>(_ref: object, body: object): Promise<T> =>
      around('create', () => {
        const notice = body as Notice;
        if (!noticeSpecSchema.safeParse(notice.spec).success) throw new ApiError('spec is invalid', 422, 'Invalid');
        if (notices.has(notice.metadata.name)) throw new ApiError('already exists', 409, 'AlreadyExists');
        const metadata = { ...notice.metadata, uid: `uid-${notice.metadata.name}`, creationTimestamp: at('02:12:40') };
        return put({ ...notice, metadata }) as KubeObject as T;
      }),
    patch: async <T extends KubeObject>(ref: Ref, _type: string, body: object): Promise<T> =>
      around(ref.subresource ? 'patch status' : 'patch', () => {
        const before = existing(ref.name);
        const { metadata, spec, status } = body as {
          metadata?: { annotations?: object };
          spec?: object;
          status?: object;
        };
        const annotations = { ...before.metadata.annotations, ...metadata?.annotations };
        const merged = Object.entries({ ...before.status, ...status }).filter(([, value]) => value !== null);
        const next = {
          ...before,
          metadata: { ...before.metadata, annotations },
          spec: { ...before.spec, ...spec },
          status: Object.fromEntries(merged),
        };
        if (!noticeSpecSchema.safeParse(next.spec).success) throw new ApiError('spec is invalid', 422, 'Invalid');
        return put(next) as KubeObject as T;
      }),
    delete: async (ref: Ref): Promise<void> =>
      around('delete', () => {
        const { uid } = existing(ref.name).metadata;
        notices.delete(ref.name);
        onChange({ type: 'gone', namespace: 'tapfix', name: ref.name, uid });
      }),
  } as Pick<Api, 'create' | 'patch' | 'delete'>;

  return {
    api,
    calls,
    fail: (call: Call, fault: Fault): void => void faults.push({ call, fault }),
    all: (): Notice[] => structuredClone([...notices.values()]),
    put,
    watch: (listener: (change: Change<Notice>) => void): void => void (onChange = listener),
  };
}
