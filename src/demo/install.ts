import { actions } from '../actions/table.ts';
import { type Api, ApiError, isConflict, isNotFound, type KubeObject, noSuchPath } from '../kube/api.ts';
import { isKind, type Ref } from '../kube/resources.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import type { Manifest } from '../manifests/manifest.ts';
import { defaults, groundwork } from '../manifests/render-manifests.ts';
import { waitUntil } from './wait.ts';

/** Something that the demo made: nobody else's is ever removed. */
export interface Made {
  ref: Ref;
  uid: string;
}

export interface InstallDeps {
  api: Api;
  clock: Clock;
  signal: AbortSignal;
  /** Told as soon as it is there, so that an end in the middle leaves nothing behind. */
  onMade(made: Made): void;
}

/** What tapfix needs in the cluster, as far as it is absent: what is there is somebody's, and stays as it is. */
export async function install({ api, clock, signal, onMade }: InstallDeps): Promise<number> {
  let made = 0;
  for (const manifest of groundwork({ ...defaults, actions })) {
    if (signal.aborted) return made;
    const created = await create(api, manifest);
    if (!created) continue;
    onMade(created);
    made += 1;
  }
  const isServed = async (): Promise<boolean> => {
    await Promise.all([
      api.page('Remediation', undefined, { limit: '1' }),
      api.page('Notice', undefined, { limit: '1' }),
    ]);
    return true;
  };
  const { ok, lastError } = await waitUntil(isServed, { clock, signal, forMs: 60_000 });
  if (!ok && !signal.aborted) throw new UserError(`the API server does not serve tapfix's resources: ${lastError}`);
  return made;
}

async function create(api: Api, manifest: Manifest): Promise<Made | undefined> {
  const { kind, metadata } = manifest;
  if (!isKind(kind)) throw new Error(`the manifests hold a ${kind}, which the demo cannot install`);
  const place = { kind, ...(metadata.namespace !== undefined && { namespace: metadata.namespace }) };
  try {
    const { metadata: born } = await api.create<KubeObject>(place, manifest);
    return { ref: { ...place, name: born.name }, uid: born.uid };
  } catch (error) {
    if (isConflict(error)) return undefined;
    // The one file that servers before 1.36 do not know; nothing depends on it.
    if (kind.startsWith('Mutating') && error instanceof ApiError && error.reason === noSuchPath) return undefined;
    throw new UserError(`${kind} ${metadata.name} could not be installed: ${messageOf(error)}`, 1, error);
  }
}

/** Whether it is there no more. Another object of its name is somebody else's. */
export async function remove(api: Pick<Api, 'delete'>, { ref, uid }: Made): Promise<void> {
  try {
    await api.delete(ref, { uid });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error) && !(error instanceof ApiError && error.reason === noSuchPath))
      throw error;
  }
}

export async function isGone(api: Pick<Api, 'get'>, { ref, uid }: Made): Promise<boolean> {
  return (await api.get<KubeObject>(ref))?.metadata.uid !== uid;
}
