import { refusalsIn, refusalsOf } from '../health/blocked.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import { controllerOf } from '../kube/views.ts';
import { readEvents } from './events.ts';
import type { Workload } from './workload.ts';

/** The Jobs of a CronJob try to create pods in its name. */
async function readJobs(reader: Reader, { kind, metadata }: KubeObject): Promise<string[]> {
  if (kind !== 'CronJob') return [];
  const jobs = await reader.list<KubeObject>('Job', metadata.namespace);
  return jobs.filter((job) => controllerOf(job.metadata)?.uid === metadata.uid).map((job) => job.metadata.uid);
}

/** With which words the pods of a workload are refused, newest first. */
export async function readRefusals(reader: Reader, workload: Workload): Promise<string[]> {
  const { object, revisions, parts, deployment } = workload;
  if (parts) return (await Promise.all(parts.map((part) => readRefusals(reader, part.workload)))).flat();
  const { namespace = '', uid } = object.metadata;
  const owners = [uid, ...revisions.map(({ view }) => view.uid), ...(await readJobs(reader, object))];
  const events = await readEvents(reader, namespace, ['FailedCreate'], owners);
  if (!deployment) return events.map(({ message }) => message);
  // Of a Deployment only what its ReplicaSets say now: events of one that was replaced are history.
  const known = refusalsIn(events);
  const ofPods = revisions.flatMap(({ view }) => refusalsOf(view, known));
  const { progressing } = deployment;
  return progressing?.reason === 'ReplicaSetCreateError' ? [progressing.message, ...ofPods] : ofPods;
}
