import type { KubeObject } from '../kube/api.ts';
import { viewPod } from '../kube/views.ts';
import type { Clock } from '../lib/clock.ts';
import { mustBecomeTrue } from './patience.ts';
import { deletePod, type DemoStage, losePods, touchReplicaSets } from './stage.ts';

export interface Act {
  readonly name: 'rollout' | 'quota' | 'image' | 'crash';
  /** A sentence that says what happens. */
  readonly title: string;
  /** In the summary: "a quota blocked web and api". */
  readonly trouble: string;
  break(stage: DemoStage, clock: Clock, signal: AbortSignal): Promise<void>;
  /** Repairs the shop after a rejection, so that the next act begins with a healthy one. */
  mend(stage: DemoStage): Promise<void>;
}

/** The longest wait for the cluster's own controllers. */
const mostMs = 120_000;

const rollout: Act = {
  name: 'rollout',
  title: 'A new version of checkout is rolled out. It crashes as soon as it starts.',
  trouble: 'a new version of checkout crashed',
  break: (stage) => setVersion(stage, 'bad'),
  mend: (stage) => setVersion(stage, 'good'),
};

async function setVersion(
  { api, namespace, container }: DemoStage,
  version: 'good' | 'bad',
  name = 'checkout',
): Promise<void> {
  const path = '/spec/template/spec/containers/0';
  const patch = [{ op: 'replace', path, value: container(name, version) }];
  await api.patch({ kind: 'Deployment', namespace, name }, 'json', patch);
}

const quotaName = 'platform-hardening';

interface Quota extends KubeObject {
  status?: { used?: Record<string, string> };
}

const quota: Act = {
  name: 'quota',
  title: 'Somebody adds a ResourceQuota that is too tight. Nothing happens, until web and api lose pods at night.',
  trouble: 'a quota kept pods of web and api away',
  async break({ api, namespace }, clock, signal) {
    const body = { metadata: { name: quotaName }, spec: { hard: { 'requests.memory': '50Mi' } } };
    await api.create({ kind: 'ResourceQuota', namespace }, { apiVersion: 'v1', kind: 'ResourceQuota', ...body });
    const isInForce = async (): Promise<boolean> =>
      (await api.get<Quota>({ kind: 'ResourceQuota', namespace, name: quotaName }))?.status?.used !== undefined;
    await mustBecomeTrue(isInForce, { clock, signal, forMs: mostMs, else: 'the quota is not in force' });
    await losePods(api, namespace, 'web', 2);
    await losePods(api, namespace, 'api', 1);
  },
  async mend({ api, namespace }) {
    const ref = { kind: 'ResourceQuota', namespace, name: quotaName } as const;
    if (await api.get(ref)) await api.delete(ref);
    // A ReplicaSet that was refused waits longer before each try. A change of the object makes it try at once.
    await touchReplicaSets(api, namespace);
  },
};

interface Owner extends KubeObject {
  spec?: { template?: { spec?: { containers?: { image?: string }[] } } };
}

const image: Act = {
  name: 'image',
  title: 'The new image of web has a typo in its tag. Somebody corrects it in haste, and mistypes it again.',
  trouble: 'web had an image that does not exist, twice',
  async break(stage, clock, signal) {
    const { api, namespace, noImage } = stage;
    const [first, second] = [noImage('web', 1), noImage('web', 2)];
    await setImage(stage, first);
    const isRolledOut = async (): Promise<boolean> =>
      (await api.list<Owner>('ReplicaSet', namespace)).some(
        ({ spec }) => spec?.template?.spec?.containers?.[0]?.image === first,
      );
    await mustBecomeTrue(isRolledOut, { clock, signal, forMs: mostMs, else: 'the first image is not rolled out' });
    await setImage(stage, second);
  },
  mend: (stage) => setVersion(stage, 'good', 'web'),
};

async function setImage({ api, namespace }: DemoStage, value: string): Promise<void> {
  const patch = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value }];
  await api.patch({ kind: 'Deployment', namespace, name: 'web' }, 'json', patch);
}

const crash: Act = {
  name: 'crash',
  title: 'One pod of api goes wrong and crashes again and again. The others, which run the same, are well.',
  trouble: 'one pod of api crashed again and again',
  break: (stage, clock, signal) => stage.spoilPod('api', clock, signal),
  async mend({ api, namespace }) {
    const pods = await api.list<KubeObject>('Pod', namespace, { labelSelector: 'app=api' });
    const isWell = (pod: KubeObject): boolean => viewPod(pod)?.ready === true;
    for (const { metadata } of pods.filter((pod) => !isWell(pod))) await deletePod(api, namespace, metadata.name);
  },
};

export const acts: readonly Act[] = [rollout, quota, image, crash];
/** The acts of a demo without --scenario. The rollback comes first, because everybody has had a bad release. */
export const tour: readonly Act[] = [rollout, quota];
