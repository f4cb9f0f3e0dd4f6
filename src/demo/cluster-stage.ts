import { randomUUID } from 'node:crypto';
import type { Api, KubeObject } from '../kube/api.ts';
import { createApi } from '../kube/client.ts';
import { loadKubeConfig } from '../kube/kubeconfig.ts';
import { viewDeployment } from '../kube/views.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { counted } from '../lib/text.ts';
import { accounts, defaultNamespace as tapfixNamespace } from '../manifests/manifest.ts';
import { clear } from './clear.ts';
import { install, type Made } from './install.ts';
import { patientApi } from './patient-api.ts';
import { runsAnnotation } from './shop.ts';
import { spoilPod } from './spoil-pod.ts';
import type { Stage } from './stage.ts';

export interface ClusterOptions {
  context: string;
  /** What the shop's pods run: it must bring `sleep` and `false`. */
  image: string;
  clock: Clock;
  signal: AbortSignal;
  say(text: string): void;
}

/** A namespace of its own on a real cluster; what tapfix needs there is installed if it is absent, and removed again. */
export async function openClusterStage(options: ClusterOptions): Promise<Stage> {
  const { context, image, clock, signal, say } = options;
  const kubeConfig = loadKubeConfig({ context });
  const asked = createApi({ kubeConfig, manager: 'tapfix-demo' });
  const name = `tapfix-demo-${randomUUID().slice(0, 5)}`;
  const api = patientApi(asked, { clock, signal, own: name });
  const tapfixApi = createApi({ kubeConfig });
  const made: Made[] = [];
  const close = async (tell: (text: string) => void): Promise<void> => {
    await clear({ api: asked, made, clock }, tell);
    await Promise.all([asked.close(), tapfixApi.close()]);
  };
  try {
    const identity = await whoIsThis(asked, context);
    await mustNotRunAlready(api);
    say(`On ${context} as ${identity}: installing what tapfix needs and is not there yet ...`);
    const count = await install({ api, clock, signal, onMade: (one) => void made.push(one) });
    say(
      count > 0 ? `Installed ${counted(count, 'object')}; they are removed at the end.` : 'All of it is there already.',
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
    await close(say);
    throw error;
  }
}

/** What it starts with is looked up each time: a pod can be told to start with something else. */
const containerOf = (image: string, version: 'good' | 'bad'): object => ({
  name: 'app',
  image,
  command: version === 'good' ? ['$(RUNS)', '86400'] : ['false'],
  env: [{ name: 'RUNS', valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${runsAnnotation}']` } } }],
  resources: { requests: { cpu: '5m', memory: '16Mi' } },
});

async function whoIsThis(api: Api, context: string): Promise<string> {
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

/** Two tapfixes would answer each other's cards. */
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
