import { isTree, type Tree, tree, trees } from '../model.ts';
import { canonicalQuantity } from '../quantity.ts';

const specDefaults: Tree = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};
const containerDefaults: Tree = {
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
};
const probeDefaults: Tree = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'];

/** What the API server adds to the pod of a template: two templates that mean the same are then the same. */
export function podSpecDefaults(spec: Tree): Tree {
  const { containers, initContainers, volumes, serviceAccountName } = spec;
  return {
    ...specDefaults,
    ...spec,
    ...(serviceAccountName !== undefined && { serviceAccount: serviceAccountName }),
    ...(Array.isArray(containers) && { containers: trees(containers).map(container) }),
    ...(Array.isArray(initContainers) && { initContainers: trees(initContainers).map(container) }),
    ...(Array.isArray(volumes) && { volumes: trees(volumes).map(volume) }),
  };
}

function container(asked: Tree): Tree {
  const filled: Tree = { ...containerDefaults, imagePullPolicy: pullPolicy(asked['image']), ...asked };
  if (Array.isArray(asked['ports']))
    filled['ports'] = trees(asked['ports']).map((port) => ({ protocol: 'TCP', ...port }));
  for (const name of probes) if (isTree(asked[name])) filled[name] = probe(asked[name]);
  filled['resources'] = resources(tree(filled['resources']));
  return filled;
}

function pullPolicy(image: unknown): string {
  const [, tag = 'latest'] = /:([^:/@]+)$/.exec(String(image ?? '').split('@')[0]!) ?? [];
  return tag === 'latest' && !String(image).includes('@') ? 'Always' : 'IfNotPresent';
}

function probe(asked: Tree): Tree {
  const { httpGet } = asked;
  return { ...probeDefaults, ...asked, ...(isTree(httpGet) && { httpGet: { path: '/', scheme: 'HTTP', ...httpGet } }) };
}

function resources(asked: Tree): Tree {
  const written = (amounts: Tree): Tree =>
    Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, canonicalQuantity(amount)]));
  const parts = Object.entries(asked).map(([part, value]) => [part, isTree(value) ? written(value) : value]);
  return Object.fromEntries(parts) as Tree;
}

function volume(asked: Tree): Tree {
  const filled = { ...asked };
  for (const source of ['configMap', 'secret', 'projected', 'downwardAPI'])
    if (isTree(asked[source])) filled[source] = { defaultMode: 420, ...asked[source] };
  return filled;
}
