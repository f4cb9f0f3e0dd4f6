import { arr, obj, type Raw } from '../../kube/raw.ts';
import { restartedAt } from '../../kube/template-secrets.ts';
import type { PodTemplate } from '../../kube/views.ts';
import { sameValue } from '../../lib/hash.ts';
import { quantity } from '../../lib/quantity.ts';

/** One place at which two pod templates differ: "nodeSelector", or "container.image" of the container it names. */
export interface Difference {
  path: string;
  container?: string;
}

/** A failure class, and for pods that are refused, who refuses them. */
export type RolloutTroubleKind =
  | 'CrashLoop'
  | 'RolloutStuck'
  | 'ImagePull'
  | 'ConfigMissing'
  | 'OOMKilled'
  | 'ProbeFailing'
  | 'Unschedulable'
  | 'VolumeStuck'
  | 'StorageFailed'
  | 'SandboxFailed'
  | 'CreateRejected by a LimitRange'
  | 'CreateRejected by a quota'
  | 'CreateRejected by Pod Security'
  | 'CreateRejected by the ServiceAccount'
  | 'CreateRejected by a missing class'
  | 'CreateRejected by a rule'
  | 'CreateRejected by nobody';

/** The program itself, and the settings that it is given. */
const program = ['container', 'container.image', 'container.command', 'container.args', 'container.env', 'container.envFrom']; // prettier-ignore
const files = ['volumes', 'container.volumeMounts'];
const resources = ['container', 'container.requests', 'container.limits', 'resources'];

/** Where a template must have changed for a rollout to have brought this trouble. 'any': every change can. */
export const rolloutCauses: Readonly<Record<RolloutTroubleKind, readonly string[] | 'any'>> = {
  CrashLoop: 'any',
  RolloutStuck: 'any',
  ImagePull: ['container', 'container.image', 'container.imagePullPolicy', 'imagePullSecrets', 'serviceAccountName'],
  ConfigMissing: ['container', 'container.env', 'container.envFrom', 'volumes'],
  OOMKilled: [...program, ...files, 'container.workingDir', 'container.limits.memory lowered', 'resources'],
  ProbeFailing: [...program, ...files, 'container.workingDir', 'container.ports', 'container.readinessProbe', 'container.livenessProbe', 'container.startupProbe', 'container.lifecycle', 'container.limits', 'container.securityContext', 'securityContext', 'hostNetwork', 'dnsPolicy', 'dnsConfig', 'hostAliases', 'serviceAccountName', 'labels'],
  Unschedulable: [...resources, 'container.hostPorts', 'hostNetwork', 'nodeSelector', 'nodeName', 'affinity', 'tolerations', 'topologySpreadConstraints', 'labels', 'volumes.claims', 'overhead', 'runtimeClassName', 'priorityClassName', 'preemptionPolicy', 'schedulerName', 'resourceClaims'],
  VolumeStuck: ['volumes', 'container.volumeDevices', 'securityContext'],
  StorageFailed: ['volumes.claims'],
  SandboxFailed: [...program, ...files, 'container.workingDir', 'container.securityContext', 'container.volumeDevices', 'securityContext', 'runtimeClassName', 'resourceClaims'],
  'CreateRejected by a LimitRange': resources,
  'CreateRejected by a quota': resources,
  'CreateRejected by Pod Security': ['container', 'container.securityContext', 'container.hostPorts', 'container.ports', 'securityContext', 'hostNetwork', 'hostPID', 'hostIPC', 'hostUsers', 'volumes', 'annotations'],
  'CreateRejected by the ServiceAccount': ['serviceAccountName'],
  'CreateRejected by a missing class': ['priorityClassName', 'runtimeClassName'],
  'CreateRejected by a rule': 'any',
  'CreateRejected by nobody': [],
}; // prettier-ignore

/** Keys of metadata that controllers and `kubectl rollout restart` set: they change nothing in what a pod runs. */
const marks: ReadonlySet<string> = new Set(['pod-template-hash', 'controller-revision-hash', restartedAt]);

const differingKeys = (before: Raw, after: Raw): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => !sameValue(before[key], after[key]));

/** `serviceAccount` is an old name for `serviceAccountName`, which the API server fills in with the same value. */
const apart: ReadonlySet<string> = new Set(['containers', 'initContainers', 'serviceAccount']);

/** Pure. Where the two differ, but for the time of a restart. */
export function differencesOf(before: PodTemplate, after: PodTemplate): Difference[] {
  const [was, is] = [obj(before.spec), obj(after.spec)];
  return [
    ...differingKeys(was, is)
      .filter((key) => !apart.has(key))
      .map((path) => ({ path })),
    ...(sameValue(claimsIn(was), claimsIn(is)) ? [] : [{ path: 'volumes.claims' }]),
    ...['containers', 'initContainers'].flatMap((list) => containerDifferences(arr(was[list]), arr(is[list]))),
    ...(['labels', 'annotations'] as const).flatMap((path) => {
      const keys = differingKeys(obj(before.metadata?.[path]), obj(after.metadata?.[path]));
      return keys.some((key) => !marks.has(key)) ? [{ path }] : [];
    }),
  ];
}

const claimsIn = (spec: Raw): unknown[] =>
  arr(spec['volumes'])
    .map((volume) => volume['persistentVolumeClaim'] ?? volume['ephemeral'])
    .filter((claim) => claim !== undefined);

function containerDifferences(before: readonly Raw[], after: readonly Raw[]): Difference[] {
  const named = (list: readonly Raw[]): Map<string, Raw> => new Map(list.map((one) => [String(one['name']), one]));
  const [old, now] = [named(before), named(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((container): Difference[] => {
    const [was, is] = [old.get(container), now.get(container)];
    if (!was || !is) return [{ path: 'container', container }];
    return pathsOf(was, is).map((path) => ({ path: `container.${path}`, container }));
  });
}

function pathsOf(was: Raw, is: Raw): string[] {
  const [old, now] = [obj(was['resources']), obj(is['resources'])];
  return [
    ...differingKeys(was, is).filter((key) => key !== 'resources'),
    ...differingKeys(old, now),
    ...(memoryLimitOf(now) < memoryLimitOf(old) ? ['limits.memory lowered'] : []),
    ...(sameValue(hostPortsOf(was), hostPortsOf(is)) ? [] : ['hostPorts']),
  ];
}

const memoryLimitOf = (resources: Raw): number =>
  quantity(String(obj(resources['limits'])['memory'] ?? '')) ?? Number.POSITIVE_INFINITY;

const hostPortsOf = (container: Raw): unknown[] =>
  arr(container['ports']).flatMap(({ hostPort, hostIP, protocol }) =>
    hostPort ? [{ hostPort, hostIP, protocol }] : [],
  );

/** Troubles of single containers: what changed in another one cannot have brought them. */
const ofContainers: ReadonlySet<RolloutTroubleKind> = new Set(['OOMKilled', 'ImagePull']);

/** Pure. Those of the differences that can have brought the trouble. `containers` are the ones that have it. */
export function causesAmong(
  kind: RolloutTroubleKind,
  differences: readonly Difference[],
  containers: readonly string[] = [],
): Difference[] {
  const causes = rolloutCauses[kind];
  const isTheirs = ({ container }: Difference): boolean =>
    container === undefined || !ofContainers.has(kind) || containers.length === 0 || containers.includes(container);
  return differences.filter((one) => (causes === 'any' || causes.includes(one.path)) && isTheirs(one));
}
