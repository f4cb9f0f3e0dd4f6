import * as fc from 'fast-check';
import type { PodTemplate } from '../../src/kube/views.ts';

/** Where people write free text in a pod template, each with its own secret. */
type Plant = (position: string) => string;

const handler = (plant: Plant, at: string, kind: number): object =>
  [
    { exec: { command: ['sh', '-c', plant(`${at} exec`)] } },
    {
      httpGet: {
        path: `/ready?key=${plant(`${at} query`)}`,
        port: 8080,
        httpHeaders: [{ name: 'Authorization', value: plant(`${at} header`) }],
      },
    },
  ][kind % 2]!;

const aContainer = (
  name: string,
  plant: Plant,
  kind: number,
): { name: string; image: string } & Record<string, unknown> => ({
  name,
  image: `shop/${name}:1.${kind}`,
  command: ['run', plant(`${name} command`)],
  args: [
    '--password',
    plant(`${name} argument`),
    `-p${plant(`${name} short flag`)}`,
    `--token=${plant(`${name} flag`)}`,
  ],
  workingDir: '/srv',
  env: [
    { name: 'LEVEL', value: plant(`${name} env`) },
    { name: 'DB', value: `postgres://app:${plant(`${name} address`)}@db/shop` },
    { name: 'REF', valueFrom: { secretKeyRef: { name: 'db-credentials', key: 'password' } } },
  ],
  envFrom: [{ secretRef: { name: 'db-credentials' } }],
  ports: [{ name: 'http', containerPort: 8080 }],
  resources: { limits: { memory: `${kind + 1}Mi` } },
  livenessProbe: { ...handler(plant, `${name} liveness`, kind), periodSeconds: kind },
  readinessProbe: handler(plant, `${name} readiness`, kind + 1),
  startupProbe: handler(plant, `${name} startup`, kind),
  lifecycle: {
    postStart: handler(plant, `${name} post-start`, kind),
    preStop: handler(plant, `${name} pre-stop`, kind + 1),
  },
  aFieldOfTomorrow: { deep: [plant(`${name} unknown field`)] },
});

/** A template with a secret in every such position. */
export const plantedTemplate = (plant: Plant, kind = 0): PodTemplate => ({
  metadata: {
    labels: { app: 'web', 'pod-template-hash': '7d9f8b6c5d' },
    annotations: { 'vault/token': plant('annotation'), 'kubectl.kubernetes.io/restartedAt': plant('restart') },
  },
  spec: {
    containers: [aContainer('app', plant, kind), aContainer('proxy', plant, kind + 1)],
    initContainers: [aContainer('migrate', plant, kind)],
    serviceAccountName: 'web',
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'gpu', operator: 'Equal', value: 'yes' }],
    securityContext: { windowsOptions: { gmsaCredentialSpec: plant('credential spec') } },
    volumes: [
      { name: 'a', csi: { driver: 'secrets-store.csi.k8s.io', volumeAttributes: { name: plant('csi attribute') } } },
      { name: 'b', flexVolume: { driver: 'x/y', options: { path: plant('flexVolume option') } } },
      { name: 'c', secret: { secretName: 'db-credentials' } },
      { name: 'd', gitRepo: { repository: `https://ada:${plant('git')}@git.internal/x` } },
      {
        name: 'e',
        ephemeral: {
          volumeClaimTemplate: {
            metadata: { annotations: { note: plant('annotation of a claim') } },
            spec: { storageClassName: 'fast' },
          },
        },
      },
    ],
    aFieldOfTomorrow: plant('unknown field'),
  },
});

/** Names that stay readable, because the fix cannot be judged without them. */
export const readableNames = ['db-credentials', 'secrets-store.csi.k8s.io', 'shop/app:1.', '7d9f8b6c5d', 'LEVEL'];

const letters = 'abcdefghijklmnopqrstuvwxyz';
const shapes: fc.Arbitrary<(core: string) => string> = fc.constantFrom(
  (core: string) => core,
  (core: string) => `-p${core}`,
  (core: string) => `ada:${core}`,
  (core: string) => `Bearer ${core}`,
  (core: string) => `${core}\n${core}`,
  (core: string) => `sh -c "curl -u ada:${core} http://x"`,
  (core: string) => `{"password":"${core}"}`,
  (core: string) => `${core.slice(0, 4)}\u200b${core.slice(4)}`,
);

/** One pair of templates, the secrets that they hold, and what they have in common with no other pair. */
export interface PlantedPair {
  before: PodTemplate;
  after: PodTemplate;
  secrets: readonly string[];
}

/** A core looks like a word or like a key; nothing but its position says that it is secret. */
export const plantedPair: fc.Arbitrary<PlantedPair> = fc
  .tuple(
    fc.string({ unit: fc.constantFrom(...letters), minLength: 8, maxLength: 8 }),
    fc.array(shapes, { minLength: 3, maxLength: 3 }),
    fc.constantFrom('', '7', 'X9'),
    fc.nat(3),
  )
  .map(([stem, forms, tail, kind]) => {
    const secrets: string[] = [];
    const planted = (salt: string): PodTemplate =>
      plantedTemplate((position) => {
        const core = `zq${stem}${salt}${secrets.length.toString(36)}${tail}`;
        secrets.push(core);
        return forms[position.length % forms.length]!(core);
      }, kind);
    return { before: planted('a'), after: planted('b'), secrets };
  });
