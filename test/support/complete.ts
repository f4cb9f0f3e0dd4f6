import { type Obj, type Tree, tree, trees } from '../../src/sim/api/model.ts';
import type { KindRow } from '../../src/sim/kinds/kinds.ts';
import { templateDefaults } from '../../src/sim/kinds/workload-rules.ts';

const image = 'registry.example.com/app:1';

function podSpec(asked: unknown, more: Tree = {}): Tree {
  const { containers, ...spec } = tree(asked);
  const listed = containers === undefined ? [{ name: 'app' }] : trees(containers);
  return { ...more, ...spec, containers: listed.map((one) => ({ image, ...one })) };
}

/** The selector and the labels of the template fit each other, and there is a container. */
function workload({ metadata, spec = {} }: Obj): Partial<Obj> {
  const { metadata: meta, spec: inner, ...template } = tree(spec['template']);
  const given = tree(tree(meta)['labels']);
  const matchLabels = Object.keys(given).length > 0 ? given : { app: metadata.name };
  const selector = spec['selector'] ?? { matchLabels };
  const labels = { ...tree(tree(selector)['matchLabels']), ...given };
  const filled = { ...template, metadata: { ...tree(meta), labels }, spec: podSpec(inner) };
  return { spec: { ...spec, selector, template: filled } };
}

function jobSpec(spec: Tree = {}): Tree {
  const { spec: inner, ...template } = tree(spec['template']);
  const own = spec['selector'] === undefined ? {} : { manualSelector: true }; // otherwise the server sets the selector
  return { ...own, ...spec, template: { ...template, spec: podSpec(inner, { restartPolicy: 'Never' }) } };
}

const claim: Tree = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

/** What the API server requires of each kind, and a test may leave out. */
const required: Readonly<Record<string, (object: Obj) => Partial<Obj>>> = {
  Pod: ({ spec }) => ({ spec: podSpec(spec) }),
  Deployment: workload,
  ReplicaSet: workload,
  StatefulSet: workload,
  DaemonSet: workload,
  Job: ({ spec }) => ({ spec: jobSpec(spec) }),
  CronJob({ spec = {} }) {
    const { spec: job, ...rest } = tree(spec['jobTemplate']);
    return { spec: { schedule: '*/5 * * * *', ...spec, jobTemplate: { ...rest, spec: jobSpec(tree(job)) } } };
  },
  HorizontalPodAutoscaler: ({ spec }) => ({ spec: { maxReplicas: 10, ...spec } }),
  PersistentVolumeClaim: ({ spec }) => ({ spec: { ...claim, ...spec } }),
  Event: ({ metadata: { namespace }, involvedObject }) => ({ involvedObject: { namespace, ...tree(involvedObject) } }),
  Remediation({ metadata: { creationTimestamp: firstSeen }, spec = {} }) {
    return { spec: { ...spec, incident: { message: '', firstSeen, ...tree(spec['incident']) } } };
  },
  /** Its template has the defaults that the server gave to the workload's own. */
  ControllerRevision({ data }) {
    const { template, ...spec } = tree(tree(data)['spec']);
    const filled = template === undefined ? spec : { ...spec, template: templateDefaults(template) };
    return { data: { ...tree(data), spec: filled } };
  },
};

/** The object as the API server would hold it: with the fields that it requires and those that it adds. */
export function complete({ kind, rules }: KindRow, object: Obj): Obj {
  const asked: Obj = { ...object, ...required[kind]?.(object) };
  const born = rules.born?.(asked) ?? asked;
  const { status = born.status } = object;
  const held = { ...born, ...(status && { status }) };
  return rules.defaults?.(held) ?? held;
}
