import { apiVersionOf } from '../../src/kube/resources.ts';

export const container = (over: object = {}): object => ({ name: 'app', image: 'localhost/app:1.0', ...over });

/** Of a scheduler that nobody plays: on every server it stays as it is. */
export const podSpec = (over: object = {}): object => ({ schedulerName: 'nobody', containers: [container()], ...over });

export const aPod = (name: string, spec: object = {}, labels: Record<string, string> = { app: name }): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: podSpec(spec),
});

export const template = (app: string, spec: object = {}): object => ({
  metadata: { labels: { app } },
  spec: podSpec(spec),
});

export const aWorkload = (
  kind: 'Deployment' | 'ReplicaSet' | 'StatefulSet' | 'DaemonSet',
  name: string,
  spec: object = {},
): object => ({
  apiVersion: apiVersionOf(kind),
  kind,
  metadata: { name },
  // None wanted, so that a controller that looks at it has nothing to create.
  spec: {
    ...(kind === 'DaemonSet' ? {} : { replicas: 0 }),
    selector: { matchLabels: { app: name } },
    template: template(name, kind === 'DaemonSet' ? { nodeSelector: { no: 'such-node' } } : {}),
    ...spec,
  },
});

/** An object that no controller touches. */
export const aRevision = (name: string, metadata: object = {}): object => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: { name, ...metadata },
  revision: 1,
  data: { what: 'ever' },
});

export const anEvent = (namespace: string, name: string, over: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name },
  involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name: 'p', uid: 'u' },
  type: 'Warning',
  reason: 'BackOff',
  message: 'Back-off restarting failed container',
  source: { component: 'kubelet' },
  firstTimestamp: '2026-11-16T10:00:00Z',
  lastTimestamp: '2026-11-16T10:00:00Z',
  count: 1,
  ...over,
});

export const aNotice = (name: string, over: object = {}): object => ({
  apiVersion: 'tapfix.dev/v1alpha1',
  kind: 'Notice',
  metadata: { name },
  spec: { channel: 'console', chat: 'terminal', members: [], form: 'card', ...over },
});

/** One that the schema takes; `proposedBy` is who asks. */
export const aRemediation = (name: string, proposedBy: string, over: object = {}): object => ({
  apiVersion: 'tapfix.dev/v1alpha1',
  kind: 'Remediation',
  metadata: { name },
  spec: {
    incident: {
      key: 'shop/ResourceQuota/limits',
      class: 'QuotaExceeded',
      severity: 'critical',
      reason: 'FailedCreate',
      object: { kind: 'ResourceQuota', name: 'limits', uid: 'u-1' },
      message: 'exceeded quota: limits',
      firstSeen: '2026-11-16T10:00:00Z',
    },
    proposedBy,
    ...over,
  },
});
