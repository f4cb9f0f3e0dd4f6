import { isForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { obj, specIn } from '../kube/raw.ts';
import type { PodTemplate } from '../kube/views.ts';
import type { Entry } from './changed.ts';
import { referencesIn } from './words/references.ts';
import { lastWriterOf, wasLater } from './writers.ts';

const mostRead = 5;

/**
 * Who edited the ConfigMaps that its pods need, and when; what is in them is nobody's business here. tapfix is installed
 * without the right to read them (ADR 8): then the first refusal ends it, and there is only less to say.
 */
export async function readConfigEdits(reader: Reader, object: KubeObject): Promise<Entry[]> {
  const { namespace = '' } = object.metadata;
  const names = namesIn(object).slice(0, mostRead);
  const found: Entry[] = [];
  for (const name of names) {
    const config = await reader.get<KubeObject>({ kind: 'ConfigMap', namespace, name }).catch(ifForbidden);
    if (config === 'forbidden') break;
    const edit = config && editOfConfig(config);
    if (edit) found.push(edit);
  }
  return found;
}

/** Of a workload's pod template, of a CronJob's, of a pod itself. */
function namesIn(object: KubeObject): string[] {
  const spec = specIn(object);
  const job = obj(obj(spec['jobTemplate'])['spec']);
  const templates = [obj(spec['template']), obj(job['template']), { spec }] as PodTemplate[];
  const needed = templates.flatMap(referencesIn).filter(({ kind }) => kind === 'ConfigMap');
  return [...new Set(needed.map(({ name }) => name))];
}

function editOfConfig(config: KubeObject): Entry | undefined {
  const writers = ['data', 'binaryData'].map((field) => lastWriterOf(config, [field]));
  const [writer] = writers.filter((one) => one !== undefined).sort((a, b) => b.atMs - a.atMs);
  if (!writer || !wasLater(writer, config)) return undefined;
  return { atMs: writer.atMs, text: `ConfigMap ${config.metadata.name} edited (${writer.by})` };
}

const ifForbidden = (error: unknown): 'forbidden' => {
  if (isForbidden(error)) return 'forbidden';
  throw error;
};
