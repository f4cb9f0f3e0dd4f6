import { isForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { num, obj, type Raw, specIn, statusIn, str } from '../kube/raw.ts';
import { autoscalerTroubles } from '../health/cluster.ts';
import { viewAutoscaler } from '../kube/views-workload.ts';
import { iso } from '../lib/clock.ts';
import { blindInWords } from './words/metric.ts';

export interface AutoscalerFacts {
  object: KubeObject;
  /** What it cannot see, and since when. */
  why: string;
  /** "Deployment web" */
  target: string;
  /** How many there are, and within which bounds. */
  replicas: string;
}

const targetOf = (object: KubeObject): Raw => obj(specIn(object)['scaleTargetRef']);

/** undefined: it is gone, or another one has its name. */
export async function readAutoscaler(
  reader: Reader,
  namespace: string,
  { name, uid }: { name: string; uid: string },
): Promise<AutoscalerFacts | undefined> {
  const object = await reader.get<KubeObject>({ kind: 'HorizontalPodAutoscaler', namespace, name });
  if (!object || (uid && object.metadata.uid !== uid)) return undefined;
  const view = viewAutoscaler(object);
  const [trouble] = view ? autoscalerTroubles(view) : [];
  const told = [view?.scalingActive, view?.ableToScale].find((one) => one && one.message === trouble?.message);
  const since = told && told.sinceMs > 0 ? `, since ${iso(told.sinceMs)}` : '';
  const { minReplicas, maxReplicas } = specIn(object);
  const now = num(statusIn(object)['currentReplicas']);
  return {
    object,
    why: trouble ? `${blindInWords(trouble.message)}${since}` : '',
    target: `${str(targetOf(object)['kind'])} ${str(targetOf(object)['name'])}`,
    replicas: `stays at ${now} (it may have ${num(minReplicas, 1)} to ${num(maxReplicas)})`,
  };
}

/** The autoscaler that decides how many there are of this workload; undefined when none does, or none may be read. */
export async function readAutoscalerOf(
  reader: Reader,
  namespace: string,
  { kind, name }: { kind: string; name: string },
): Promise<string | undefined> {
  const all = await reader.list<KubeObject>('HorizontalPodAutoscaler', namespace).catch((error: unknown) => {
    if (isForbidden(error)) return [];
    throw error;
  });
  return all.find((one) => targetOf(one)['kind'] === kind && targetOf(one)['name'] === name)?.metadata.name;
}
