import { type Obj, type Tree, tree, trees } from '../../src/sim/api/model.ts';
import type { KindRow } from '../../src/sim/kinds/kinds.ts';
import { templateDefaults } from '../../src/sim/kinds/workload-rules.ts';

const image = 'registry.example.com/app:1';

function podSpec(asked: unknown, more: Tree = {}): Tree {
  const { containers, ...spec } = tree(asked);
  const listed = containers === undefined ? [{ name: 'app' }] : trees(containers);
  return { ...more, ...spec, containers: listed.map((one) => ({ image, ...one })) };
}

/** The labels of the template and the selector fit each other, and there is a container. */
function workload({ metadata, spec = {} }: Obj): Tree {
  const { metadata: meta, spec: inner, ...template } = tree(spec['template']);
  const given = tree(tree(meta)['labels']);
  const selector = spec['selector'] ?? {
    matchLabels: Object.keys(given).length > 0 ? given : { app: metadata.name },
  };
  const labels = { ...tree(tree(selector)['matchLabels']), ...given };
  return {
    ...spec,
    selector,
    template: { ...template, metadata: { ...tree(meta), labels }, spec: podSpec(inner) },
  };
}

const job = (spec: Tree = {}): Tree => {
  const { spec: inner, ...template } = tree(spec['template']);
  return { ...spec, template: { ...template, spec: podSpec(inner, { restartPolicy: 'Never' }) } };
};

/** What a test may leave out of the spec of each kind. */
const specs: Record<string, (object: Obj) => Tree> = {
  Pod: ({ spec }) => podSpec(spec),
  Deployment: workload,
  ReplicaSet: workload,
  StatefulSet: workload,
  DaemonSet: workload,
  // A Job that names a selector keeps it.
  Job: ({ spec }) => ({ ...(spec?.['selector'] !== undefined && { manualSelector: true }), ...job(spec) }),
  CronJob: ({ spec = {} }) => ({
    schedule: '*/5 * * * *',
    ...spec,
    jobTemplate: { ...tree(spec['jobTemplate']), spec: job(tree(tree(spec['jobTemplate'])['spec'])) },
  }),
  HorizontalPodAutoscaler: ({ spec }) => ({ maxReplicas: 10, ...spec }),
  PersistentVolumeClaim: ({ spec }) => ({
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    ...spec,
  }),
  Remediation: ({ metadata, spec = {} }) => ({
    ...spec,
    incident: { message: '', firstSeen: metadata.creationTimestamp, ...tree(spec['incident']) },
  }),
};

/** A controller keeps the template as the server has it. */
function revisionData({ spec, ...data }: Tree): Tree {
  const { template, ...rest } = tree(spec);
  return { ...data, spec: { ...rest, ...(template !== undefined && { template: templateDefaults(template) }) } };
}

/** The object as a server would hold it after its own writes: with what every object of its kind has. */
export function whole({ kind, rules }: KindRow, object: Obj): Obj {
  const fill = specs[kind];
  const asked = fill ? { ...object, spec: fill(object) } : object;
  const { namespace } = object.metadata;
  if (kind === 'Event') asked['involvedObject'] = { namespace, ...tree(object['involvedObject']) };
  if (kind === 'ControllerRevision') asked['data'] = revisionData(tree(object['data']));
  const born = rules.born?.(asked) ?? asked;
  const { status } = object;
  const held = status ? { ...born, status } : born;
  return rules.defaults?.(held) ?? held;
}
