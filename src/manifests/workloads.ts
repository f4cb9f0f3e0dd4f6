import { historyNames } from '../kube/history-maps.ts';
import { mutesName } from '../kube/mutes.ts';
import { accounts, type Install, type Manifest } from './manifest.ts';

const port = 8080;
const configDirectory = '/etc/tapfix';
const chatDirectory = '/etc/tapfix-chat';
const chatTokens = ['TELEGRAM_BOT_TOKEN', 'SLACK_BOT_TOKEN', 'SLACK_APP_TOKEN'];

export const namespaceManifest = ({ namespace }: Install): Manifest => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: namespace,
    labels: {
      'pod-security.kubernetes.io/enforce': 'restricted',
      'pod-security.kubernetes.io/warn': 'restricted',
    },
  },
});

/** The writer's tokens are created for each fix; no pod ever has one. */
export const serviceAccounts = ({ namespace }: Install): Manifest[] =>
  Object.values(accounts).map((name) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace },
    ...(name === accounts.writer && { automountServiceAccountToken: false }),
  }));

/** The same as config.starter.yaml, which a test compares. */
export const startingConfig = `# A start: put in your own names, then ask tapfix check-config. All settings are in config.example.yaml.
# A change is taken up within a minute or two, without a restart.
cluster: my-cluster # shown in every message
namespaces:
  include: ['*'] # all but the system's; or names and patterns, such as 'shop-*'
channels:
  console: {} # the watcher's own log; instead of it, or beside it, one chat or both:
  # telegram: { chat: -1001234567890 } # the numeric id; groups have negative ones
  # slack: { channel: C0123456789 } # the id, not the #name
approval:
  approvers: # who may press the buttons; while nobody is listed, there are none
    # - { name: Ada, telegram: 123456789, slack: U012AB3CD } # ids, not @names
`;

export const configMap = ({ namespace }: Install): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'tapfix-config', namespace },
  data: { 'config.yaml': startingConfig },
});

type Role = 'watcher' | 'controller';
const roles: readonly Role[] = ['watcher', 'controller'];

/**
 * The memory of tapfix: the mutes that people wrote in chat, and which revisions each role saw healthy. Without data, so
 * that applying them again deletes nothing.
 */
export const memoryConfigMaps = ({ namespace }: Install): Manifest[] =>
  [mutesName, ...roles.flatMap(historyNames)].map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
  }));

/**
 * One per role, for the replica that leads. Without a spec, so that applying it again takes the lead from nobody: the
 * holder is a field that only the replicas write.
 */
export const leases = ({ namespace }: Install): Manifest[] =>
  roles.map((role) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: accounts[role], namespace },
  }));

/** The Deployments, and for each a budget: a node that is drained takes one replica at a time. */
export const deployments = (install: Install): Manifest[] => [
  deployment(install, 'watcher', chat),
  deployment(install, 'controller', { env: [], volumeMounts: [], volumes: [] }),
  ...roles.map((role) => disruptionBudget(install, role)),
];

const labelsOf = (role: Role): Record<string, string> => ({
  'app.kubernetes.io/name': 'tapfix',
  'app.kubernetes.io/component': role,
});

const disruptionBudget = ({ namespace }: Install, role: Role): Manifest => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: accounts[role], namespace, labels: labelsOf(role) },
  spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(role) } },
});

interface Extras {
  env: object[];
  volumeMounts: object[];
  volumes: object[];
}

/** The chat's tokens, in the watcher only. Directories, never subPath: a file mounted by subPath is never updated. */
const chat: Extras = {
  env: chatTokens.map((token) => ({ name: `${token}_FILE`, value: `${chatDirectory}/${token}` })),
  volumeMounts: [{ name: 'chat', mountPath: chatDirectory, readOnly: true }],
  volumes: [{ name: 'chat', secret: { secretName: 'tapfix-chat', optional: true } }],
};

function deployment({ namespace, image }: Install, role: Role, extras: Extras): Manifest {
  const name = accounts[role];
  const labels = labelsOf(role);
  const podSpec = {
    serviceAccountName: name,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    // One node is enough; where there are more, one node that fails does not take both replicas.
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: labels },
      },
    ],
    containers: [container(image, role, extras)],
    volumes: [{ name: 'config', configMap: { name: 'tapfix-config' } }, ...extras.volumes],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      // The replica that holds the Lease acts; the other one watches, and takes over.
      replicas: 2,
      // A new replica is Ready, which a follower is, before an old one ends.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec },
    },
  };
}

const ofPod = (name: string, fieldPath: string): object => ({ name, valueFrom: { fieldRef: { fieldPath } } });

const container = (image: string, role: string, { env, volumeMounts }: Extras): object => ({
  name: 'tapfix',
  image,
  imagePullPolicy: 'IfNotPresent',
  args: ['run', '--config', `${configDirectory}/config.yaml`, '--role', role],
  env: [ofPod('POD_NAMESPACE', 'metadata.namespace'), ofPod('POD_NAME', 'metadata.name'), ...env],
  ports: [{ name: 'http', containerPort: port }],
  livenessProbe: { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 10, failureThreshold: 6 },
  readinessProbe: { httpGet: { path: '/readyz', port: 'http' }, periodSeconds: 5 },
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '256Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  volumeMounts: [{ name: 'config', mountPath: configDirectory, readOnly: true }, ...volumeMounts],
});
