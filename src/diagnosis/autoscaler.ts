import { autoscalerTroubles } from '../health/cluster.ts';
import { ifForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { arr, num, obj, type Raw, specIn, statusIn, str } from '../kube/raw.ts';
import { isKnownKind, type Kind } from '../kube/resources.ts';
import { viewAutoscaler } from '../kube/views.ts';
import { line } from '../lib/text.ts';

const apis: Readonly<Record<string, string>> = {
  resource: 'metrics.k8s.io (metrics-server)',
  custom: 'custom.metrics.k8s.io',
  external: 'external.metrics.k8s.io',
};

/** Why the metric has no value. */
function whyIn(message: string): string {
  const [, api = ''] = /from (resource|custom|external) metrics API/.exec(message) ?? [];
  if (/the server could not find the requested resource/.test(message))
    return `the API ${apis[api] ?? 'for it'} is not installed`;
  if (/the server is currently unable to handle the request/.test(message))
    return `the API ${apis[api] ?? 'for it'} does not answer`;
  if (/no metrics returned from/.test(message)) return `the API ${apis[api] ?? 'for it'} has no values`;
  const [, resource, container] = /missing request for (\S+)(?: in container (\S+))?/.exec(message) ?? [];
  if (resource) return `its pods make no request for ${resource}${container ? ` in container ${container}` : ''}`;
  if (/did not receive metrics for (?:targeted|any ready) pods/.test(message)) return 'no ready pod has values yet';
  return '';
}

/** The metric's name, as far as the autoscaler's message has it. */
function metricIn(message: string): string {
  const patterns = [
    /metrics for resource (\S+?):/,
    /failed to get (\S+) (?:utilization|usage)/,
    /failed to get external metric (\S+?):/,
    /failed to get (\S+) (?:external|object|resource|container)/,
    /unable to get (?:external )?metric (\S+?)[:/]/,
  ];
  return patterns.map((pattern) => pattern.exec(message)?.[1]).find((name) => name !== undefined) ?? '';
}

/** Pure. The values that an autoscaler cannot read, from the message of its condition. */
export function blindInWords(message: string): string {
  const [, kind, name] = /unable to get the target's current scale: (\w+)\S* "([^"]+)" not found/.exec(message) ?? [];
  if (name) return `${kind!.replace(/s$/, '')} ${name}, which it should scale, does not exist`;
  if (/missing a selector|is required|ambiguous|selector/i.test(message) && !/metric/.test(message))
    return line(message, 240);
  const metric = metricIn(message);
  const why = whyIn(message);
  if (!metric && !why) return line(message.replace(/^the HPA (?:controller )?was unable to [^:]+: /, ''), 240);
  const what = metric ? `it cannot read ${metric}` : 'it cannot read its metrics';
  return why ? `${what}: ${why}` : `${what}: ${line(message.slice(message.lastIndexOf(': ') + 2), 160)}`;
}

interface AutoscalerFacts {
  object: KubeObject;
  /** The values that it cannot read. */
  why: string;
  /** Since when; 0 if nobody knows. */
  sinceMs: number;
  /** "Deployment web" */
  target: string;
  /** The current number of replicas, and the bounds. */
  replicas: string;
}

const targetOf = (object: KubeObject): Raw => obj(specIn(object)['scaleTargetRef']);

const missingValues = /did not receive metrics for (?:targeted|any ready) pods/;

/** A pod without a request has no utilization, however ready it is: then it is not the metrics that are missing. */
async function whyBlind(reader: Reader, namespace: string, autoscaler: KubeObject, message: string): Promise<string> {
  const words = blindInWords(message);
  const metric = metricIn(message);
  if (!missingValues.test(message) || !['cpu', 'memory'].includes(metric)) return words;
  const { kind, name } = targetOf(autoscaler);
  if (!isKnownKind(str(kind))) return words;
  const target = await reader.get<KubeObject>({ kind: str(kind) as Kind, namespace, name: str(name) });
  const spec = obj(obj(target && specIn(target)['template'])['spec']);
  const asking = (container: Raw): boolean => {
    const { requests, limits } = obj(container['resources']);
    return obj(requests)[metric] !== undefined || obj(limits)[metric] !== undefined; // a limit is a request as well
  };
  if (!target || asking(spec)) return words;
  const without = arr(spec['containers']).filter((container) => !asking(container));
  if (without.length === 0) return words;
  const names = without.map((container) => str(container['name'])).join(', ');
  const whose = without.length === arr(spec['containers']).length ? 'no container asks for' : `${names} asks for no`;
  return `it cannot read ${metric}: ${whose} ${metric}`;
}

/** undefined if it is gone, or another one has its name. */
export async function readAutoscaler(
  reader: Reader,
  namespace: string,
  { name, uid }: { name: string; uid: string },
): Promise<AutoscalerFacts | undefined> {
  const object = await reader.get<KubeObject>({ kind: 'HorizontalPodAutoscaler', namespace, name });
  if (!object || (uid && object.metadata.uid !== uid)) return undefined;
  const view = viewAutoscaler(object);
  const [trouble] = view ? autoscalerTroubles(view) : [];
  const condition = [view?.scalingActive, view?.ableToScale].find((one) => one && one.message === trouble?.message);
  const { minReplicas, maxReplicas } = specIn(object);
  const now = num(statusIn(object)['currentReplicas']);
  return {
    object,
    why: trouble ? await whyBlind(reader, namespace, object, trouble.message) : '',
    sinceMs: condition?.sinceMs ?? 0,
    target: `${str(targetOf(object)['kind'])} ${str(targetOf(object)['name'])}`,
    replicas: `stays at ${now} (it may have ${num(minReplicas, 1)} to ${num(maxReplicas)})`,
  };
}

/** The autoscaler that sets the replicas of this workload; undefined if there is none, or it may not be read. */
export async function readAutoscalerOf(
  reader: Reader,
  namespace: string,
  { kind, name }: { kind: string; name: string },
): Promise<string | undefined> {
  const all = await reader.list<KubeObject>('HorizontalPodAutoscaler', namespace).catch(ifForbidden([]));
  return all.find((one) => targetOf(one)['kind'] === kind && targetOf(one)['name'] === name)?.metadata.name;
}
