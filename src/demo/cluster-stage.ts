import { randomUUID } from 'node:crypto';
import { actions } from '../actions/table.ts';
import { type Api, ApiError, isConflict, isNotFound, type KubeObject, noSuchPath } from '../kube/api.ts';
import { createApi } from '../kube/client.ts';
import { loadKubeConfig } from '../kube/kubeconfig.ts';
import type { Notice } from '../kube/notice.ts';
import { isKind, type Ref } from '../kube/resources.ts';
import { viewDeployment, viewPod } from '../kube/views.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { counted } from '../lib/text.ts';
import { accounts, defaultNamespace as tapfixNamespace, type Manifest } from '../manifests/manifest.ts';
import { defaults, groundwork } from '../manifests/render-manifests.ts';
import { mustBecomeTrue, patientApi, waitUntil } from './patience.ts';
import { type DemoStage, runsAnnotation } from './stage.ts';

export interface ClusterStageOptions {
  context: string;
  /** The image of the shop's pods. It must contain `sleep` and `false`. */
  image: string;
  clock: Clock;
  signal: AbortSignal;
  print(text: string): void;
}

/** A new namespace on a real cluster. What tapfix needs there is installed if it is absent, and removed at the end. */
export async function openClusterStage(options: ClusterStageOptions): Promise<DemoStage> {
  const { context, image, clock, signal, print } = options;
  const kubeConfig = loadKubeConfig({ context });
  const rawApi = createApi({ kubeConfig, manager: 'tapfix-demo' });
  const name = `tapfix-demo-${randomUUID().slice(0, 5)}`;
  const api = patientApi(rawApi, { clock, signal, own: name });
  const tapfixApi = createApi({ kubeConfig });
  const made: Made[] = [];
  const close = async (printEnd: (text: string) => void): Promise<void> => {
    await uninstall({ api: rawApi, made, clock, print: printEnd });
    await Promise.all([rawApi.close(), tapfixApi.close()]);
  };
  try {
    const identity = await identityOf(rawApi, context);
    await mustNotRunAlready(api);
    print(`On ${context} as ${identity}: installing what tapfix needs and is not there yet ...`);
    const count = await install({ api, clock, signal, onMade: (one) => void made.push(one) });
    print(
      count > 0
        ? `Installed ${counted(count, 'object')}; they are removed at the end.`
        : 'Everything is there already.',
    );
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    const { metadata } = await api.create<KubeObject>({ kind: 'Namespace' }, body);
    made.push({ ref: { kind: 'Namespace', name: metadata.name }, uid: metadata.uid });
    return {
      where: `namespace ${metadata.name} of the cluster ${context}`,
      cluster: context,
      api,
      tapfixApi,
      identity,
      namespace: metadata.name,
      container: (_app, version) => containerOf(image, version),
      noImage: (_app, n) => `${image.replace(/@.*$/, '')}-typo${n}`,
      spoilPod: (app, itsClock, stop) =>
        spoilPod({ api, namespace: metadata.name, clock: itsClock, signal: stop }, app),
      close,
    };
  } catch (error) {
    await close(print);
    throw error;
  }
}

/** The container starts the program that an annotation of its pod names, so that one pod can start another program. */
const containerOf = (image: string, version: 'good' | 'bad'): object => ({
  name: 'app',
  image,
  command: version === 'good' ? ['$(RUNS)', '86400'] : ['false'],
  env: [{ name: 'RUNS', valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${runsAnnotation}']` } } }],
  resources: { requests: { cpu: '5m', memory: '16Mi' } },
});

async function identityOf(api: Api, context: string): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const review = await api
    .create<KubeObject & { status?: { userInfo?: { username?: string } } }>({ kind: 'SelfSubjectReview' }, body)
    .catch((error: unknown) => {
      throw new UserError(`the cluster of context ${context} does not answer: ${messageOf(error)}`, 1, error);
    });
  const identity = review.status?.userInfo?.username ?? '';
  if (identity.startsWith('system:serviceaccount:'))
    throw new UserError(`context ${context} is the ServiceAccount ${identity}: only a person may approve`, 2);
  return identity;
}

/** Two tapfixes in one cluster would answer each other's cards. */
async function mustNotRunAlready(api: Api): Promise<void> {
  for (const name of [accounts.watcher, accounts.controller]) {
    const object = await api.get<KubeObject>({ kind: 'Deployment', namespace: tapfixNamespace, name });
    if (object && (viewDeployment(object)?.desired ?? 0) > 0)
      throw new UserError(
        `tapfix runs in this cluster already (${name} in ${tapfixNamespace}); scale it to 0 for the time of the demo`,
        2,
      );
  }
}

/** An object that the demo made. Nothing else is ever removed. */
export interface Made {
  ref: Ref;
  uid: string;
}

interface InstallDeps {
  api: Api;
  clock: Clock;
  signal: AbortSignal;
  /** Called as soon as the object is there, so that an end in the middle leaves nothing behind. */
  onMade(made: Made): void;
}

/** Creates what tapfix needs in the cluster. An object that is there already belongs to somebody and stays as it is. */
async function install({ api, clock, signal, onMade }: InstallDeps): Promise<number> {
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
    // API servers before 1.36 do not know this kind. Nothing depends on it.
    if (kind.startsWith('Mutating') && error instanceof ApiError && error.reason === noSuchPath) return undefined;
    throw new UserError(`${kind} ${metadata.name} could not be installed: ${messageOf(error)}`, 1, error);
  }
}

export interface UninstallDeps {
  api: Pick<Api, 'get' | 'list' | 'delete'>;
  made: readonly Made[];
  clock: Clock;
  print(text: string): void;
}

/** The longest wait for an object to be gone. Once an object has stayed, the others get less time. */
const goneMs = { first: 180_000, rest: 10_000 };

/** Removes what was made last first, so the shop goes before the resources that describe it. Also runs after Ctrl-C. */
export async function uninstall({ api, made, clock, print }: UninstallDeps): Promise<void> {
  if (made.length === 0) return;
  const never = new AbortController().signal;
  print(`\nRemoving what the demo put there (${counted(made.length, 'object')}) ...`);
  const left: string[] = [];
  for (const one of made.toReversed()) {
    const { kind, name, namespace } = one.ref;
    if (kind === 'Namespace' && name !== tapfixNamespace) await removeNotices(api, name).catch(() => undefined);
    // Namespaces and resource definitions are there for a while after the request to delete them.
    const isRemoved = async (): Promise<boolean> => {
      await remove(api, one);
      return isGone(api, one);
    };
    const forMs = left.length === 0 ? goneMs.first : goneMs.rest;
    const { ok } = await waitUntil(isRemoved, { clock, signal: never, forMs });
    if (!ok) left.push(`  kubectl delete ${kind.toLowerCase()} ${name}${namespace ? ` -n ${namespace}` : ''}`);
  }
  print(left.length > 0 ? `Some of it is still there; remove it with\n${left.join('\n')}` : 'Everything is gone.');
}

async function remove(api: Pick<Api, 'delete'>, { ref, uid }: Made): Promise<void> {
  try {
    await api.delete(ref, { uid });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error) && !(error instanceof ApiError && error.reason === noSuchPath))
      throw error;
  }
}

/** Another object of the same name, with another uid, belongs to somebody else. */
async function isGone(api: Pick<Api, 'get'>, { ref, uid }: Made): Promise<boolean> {
  return (await api.get<KubeObject>(ref))?.metadata.uid !== uid;
}

/** Removes the messages about this shop. Messages about other namespaces stay. */
async function removeNotices(api: UninstallDeps['api'], shop: string): Promise<void> {
  for (const { metadata, spec } of await api.list<Notice>('Notice', tapfixNamespace)) {
    const isOurs = spec.members.length > 0 && spec.members.every(({ namespace }) => namespace === shop);
    if (isOurs)
      await api.delete({ kind: 'Notice', namespace: tapfixNamespace, name: metadata.name }, { uid: metadata.uid });
  }
}

interface ShopAccess {
  api: Api;
  namespace: string;
  clock: Clock;
  signal: AbortSignal;
}

interface PodWithImage extends KubeObject {
  spec?: { containers?: { image?: string }[] };
}

/** The longest wait for a container to stop. */
const stopMs = 120_000;

/**
 * Makes one pod of a workload crash from now on. The template stays as it is, and so do the pod's siblings and its
 * successor. An annotation says what the container starts; this changes it. Then the container must start again: its
 * image is the one field of a pod's containers that can be changed, so it is changed and changed back.
 */
async function spoilPod({ api, namespace, clock, signal }: ShopAccess, app: string): Promise<void> {
  const [pod] = await api.list<PodWithImage>('Pod', namespace, { labelSelector: `app=${app}` });
  const image = pod?.spec?.containers?.[0]?.image;
  if (!pod || !image) return;
  const ref = { kind: 'Pod', namespace, name: pod.metadata.name } as const;
  const setImage = (value: string): Promise<unknown> =>
    api.patch(ref, 'json', [{ op: 'replace', path: '/spec/containers/0/image', value }]);
  await api.patch(ref, 'merge', { metadata: { annotations: { [runsAnnotation]: 'false' } } });
  await setImage(`${image.replace(/@.*$/, '')}-none`);
  const isStopped = async (): Promise<boolean> => {
    const live = await api.get<PodWithImage>(ref);
    return live === undefined || viewPod(live)?.containers[0]?.runningSinceMs === undefined;
  };
  await mustBecomeTrue(isStopped, { clock, signal, forMs: stopMs, else: `pod ${pod.metadata.name} still runs` });
  await setImage(image);
}
