import type { Api, WriteOptions } from '../../../src/kube/api.ts';
import type { Ref } from '../../../src/kube/resources.ts';

/** One real write, without what differs from run to run: "patch Remediation/status Applying", "writer create Pod/eviction". */
export interface WriteSeen {
  what: string;
  /** With a minted token. */
  byWriter: boolean;
}

export interface Recorder {
  /** Before it is sent; a promise that never settles is a process that died. */
  before(write: WriteSeen): Promise<void> | void;
  /** After it was done, before anybody knows. */
  after(write: WriteSeen): Promise<void> | void;
}

const phaseIn = (body: object): string => {
  const { status } = body as { status?: { phase?: string; preview?: object } };
  return status ? ` ${status.phase ?? (status.preview ? 'preview' : 'other')}` : '';
};

/** An Api whose real writes pass by somebody who counts them, or stops them. */
export function recorded(api: Api, recorder: Recorder, byWriter = false): Api {
  async function pass<T>(
    verb: string,
    { kind, subresource }: Partial<Ref>,
    body: object,
    options: WriteOptions | undefined,
    call: () => Promise<T>,
  ): Promise<T> {
    if (options?.dryRun) return call();
    const target = [kind, subresource].filter(Boolean).join('/');
    const write = { what: `${byWriter ? 'writer ' : ''}${verb} ${target}${phaseIn(body)}`, byWriter };
    await recorder.before(write);
    const answer = await call();
    await recorder.after(write);
    return answer;
  }
  return {
    ...api,
    create: (ref, body, options) => pass('create', ref, {}, options, () => api.create(ref, body, options)),
    createSub: (ref, body, options) => pass('create', ref, {}, options, () => api.createSub(ref, body, options)),
    patch: (ref, type, body, options) =>
      pass('patch', ref, ref.kind === 'Remediation' ? body : {}, options, () => api.patch(ref, type, body, options)),
    delete: (ref, preconditions, options) =>
      pass('delete', ref, {}, options, () => api.delete(ref, preconditions, options)),
    withToken: (token) => recorded(api.withToken(token), recorder, true),
    guardedBy: (check) => recorded(api.guardedBy(check), recorder, byWriter),
  };
}

const never = new Promise<never>(() => undefined);

/** A process that dies at its nth write of this kind: nothing it does afterwards arrives, and no answer ever comes. */
export function mortal(what: string, nth: number, when: 'before' | 'after'): Recorder & { isDead(): boolean } {
  let seen = 0;
  let dead = false;
  const pass = (at: 'before' | 'after') => (write: WriteSeen) => {
    if (!dead && at === when && write.what === what && ++seen === nth) dead = true;
    return dead ? never : undefined;
  };
  return { before: pass('before'), after: pass('after'), isDead: () => dead };
}
