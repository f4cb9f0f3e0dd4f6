import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { actions } from '../../src/actions/table.ts';
import { accounts, userOf } from '../../src/manifests/manifest.ts';
import { declaredRights, rightsTable, writerRoles } from '../../src/manifests/rights-table.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { createCrowd } from './support/crowd.ts';
import { aRemediation } from './support/remediation.ts';
import { installResources } from './support/tapfix.ts';

/** What each account may do, as the API server itself lists it: exactly what the table declares. */
let cluster: Cluster;
let shop: string;

before(async () => {
  cluster = await joinCluster();
  await installResources(cluster);
  shop = await cluster.freshNamespace('e2e-rights');
});

interface Rules {
  status: {
    resourceRules: { verbs: string[]; apiGroups?: string[]; resources?: string[]; resourceNames?: string[] }[];
  };
}

/** Everybody who is logged in may ask who they are and what they may do. */
const everybodys = /^create (authentication|authorization)\.k8s\.io\/self\w+$/;

async function granted(account: string, namespace: string): Promise<string[]> {
  const kubeconfig = await cluster.serviceAccountKubeconfig('tapfix', account);
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } };
  const answer = await cluster.kubectl(['create', '--validate=false', '-f', '-', '-o', 'json'], {
    kubeconfig,
    input: JSON.stringify(review),
  });
  const { resourceRules } = (JSON.parse(answer) as Rules).status;
  const lines = resourceRules.flatMap(({ verbs, apiGroups = [], resources = [], resourceNames = [''] }) =>
    verbs.flatMap((verb) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => resourceNames.map((name) => `${verb} ${group}/${resource} ${name}`.trim())),
      ),
    ),
  );
  return [...new Set(lines)].filter((line) => !everybodys.test(line)).sort();
}

for (const identity of ['watcher', 'controller'] as const)
  for (const place of ['a watched namespace', 'its own namespace'] as const)
    test(`the ${identity} may do in ${place} what the table declares, and nothing else`, async () => {
      const isOwn = place === 'its own namespace';
      const declared = declaredRights(identity, actions)
        .filter(({ scope }) => scope === 'cluster' || isOwn)
        .map(({ verb, group, resource, name = '' }) => `${verb} ${group}/${resource} ${name}`.trim());
      const may = await granted(accounts[identity], isOwn ? 'tapfix' : shop);
      assert.deepEqual(may, [...new Set(declared)].sort());
    });

const standardVerbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const otherVerbs = ['bind', 'escalate', 'impersonate', 'use', 'propose', 'approve', 'attest', 'observe', 'control'];

interface Resources {
  groupVersion: string;
  resources: { name: string; namespaced: boolean }[];
}

/** Every resource that the server has, with its subresources: "apps/deployments/scale". */
async function everything(
  ask: Awaited<ReturnType<typeof createCrowd>>,
): Promise<{ group: string; resource: string }[]> {
  const { groups } = await ask.get<{ groups: { versions: { groupVersion: string }[] }[] }>('/apis');
  const paths = [
    '/api/v1',
    ...groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `/apis/${groupVersion}`)),
  ];
  const lists = await Promise.all(paths.map((path) => ask.get<Resources>(path)));
  const all = lists.flatMap(({ groupVersion, resources }) =>
    resources.map(({ name }) => ({
      group: groupVersion.includes('/') ? groupVersion.split('/')[0]! : '',
      resource: name,
    })),
  );
  return [...new Map(all.map((one) => [`${one.group}/${one.resource}`, one])).values()];
}

test('asked one by one, every verb on every resource of the server: each account has what the table declares, and nothing else', async () => {
  const ask = await createCrowd(cluster.kubeconfig, 20);
  const all = await everything(ask);
  assert.ok(
    all.some(({ resource }) => resource === 'secrets') &&
      all.some(({ resource }) => resource === 'remediations/status'),
  );
  async function may(identity: keyof typeof accounts, namespace: string): Promise<string[]> {
    const user = userOf('tapfix', accounts[identity]);
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:tapfix', 'system:authenticated'];
    const questions = all.flatMap(({ group, resource: path }) => {
      const [resource = '', subresource = ''] = path.split('/');
      const isOwn =
        ['tapfix.dev', 'rbac.authorization.k8s.io'].includes(group) || ['serviceaccounts', 'users'].includes(resource);
      return [...standardVerbs, ...(isOwn ? otherVerbs : [])].map((verb) => ({
        verb,
        group,
        resource,
        subresource,
        namespace,
      }));
    });
    const answers = await Promise.all(
      questions.map(async (resourceAttributes) => {
        const body = {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: { user, groups, resourceAttributes },
        };
        const { status } = await ask.post<{ status: { allowed: boolean } }>(
          '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          body,
        );
        const { verb, group, resource, subresource } = resourceAttributes;
        return status.allowed ? [`${verb} ${group}/${[resource, subresource].filter(Boolean).join('/')}`] : [];
      }),
    );
    return answers
      .flat()
      .filter((line) => !everybodys.test(line))
      .sort();
  }
  for (const identity of ['watcher', 'controller', 'writer'] as const)
    for (const namespace of [shop, 'tapfix']) {
      // What is for single objects is not for all of them: without a name the answer is no.
      const declared = declaredRights(identity, actions)
        .filter(
          ({ scope, name }) =>
            name === undefined && (scope === 'cluster' || (scope === 'own' && namespace === 'tapfix')),
        )
        .map(({ verb, group, resource }) => `${verb} ${group}/${resource}`);
      assert.deepEqual(await may(identity, namespace), [...new Set(declared)].sort(), `${identity} in ${namespace}`);
    }
  ask.close();
});

for (const role of writerRoles)
  test(`bound to ${role} the writer may do what the actions of that role do, and nothing else`, async () => {
    const own = rightsTable(actions).filter(({ who }) => who === role);
    const declared = own.flatMap(({ group, resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
    );
    const namespace = await cluster.freshNamespace('e2e-rights');
    const subject = '--serviceaccount=tapfix:tapfix-writer';
    await cluster.kubectl(['-n', namespace, 'create', 'rolebinding', 'minted', `--clusterrole=${role}`, subject]);
    const may = await cluster.waitFor(
      'the binding to be known',
      async () => {
        const known = await granted(accounts.writer, namespace);
        return known.length > 0 && known;
      },
      20_000,
    );
    assert.deepEqual(may, declared.sort());
  });

test('the writer may do nothing at all while no fix is under way', async () => {
  for (const namespace of [shop, 'tapfix']) assert.deepEqual(await granted(accounts.writer, namespace), []);
});

test('the controller deletes what is over and cleared, the watcher nothing', async () => {
  const as = async (account: string) => {
    const kubeconfig = await cluster.serviceAccountKubeconfig('tapfix', account);
    return (expectFailure: boolean, ...what: string[]) =>
      cluster.kubectl(['delete', '-n', shop, ...what], { kubeconfig, expectFailure });
  };
  const kept = ['fix', 'kept'];
  const [watcher, controller] = [await as(accounts.watcher), await as(accounts.controller)];
  const lastTransitionTime = '2026-11-16T10:00:00Z';
  const cleared = (status: string) => [
    { type: 'IncidentCleared', status, reason: 'R', message: '', lastTransitionTime },
  ];
  const write = (status: object) =>
    cluster.kubectl([
      'patch',
      'fix',
      'kept',
      '-n',
      shop,
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status }),
    ]);
  const incident = { ...aRemediation('').spec.incident, key: `${shop}/ResourceQuota/limits` };
  await cluster.kubectl(['create', '-n', shop, '-f', '-'], {
    input: JSON.stringify(aRemediation('kept', { incident })),
  });
  const notYet = /tapfix-controller deletes only Remediations that are over and cleared, not kept/;
  await cluster.waitFor(
    'the policy to be in force',
    async () => notYet.test(await controller(true, ...kept, '--dry-run=server')),
    30_000,
  );
  await write({ phase: 'Proposed', conditions: cleared('True') });
  assert.match(await controller(true, ...kept), notYet, 'cleared, and not over');
  await write({ phase: 'Resolved', conditions: cleared('False') });
  assert.match(await controller(true, ...kept), notYet, 'over, and not cleared');
  await write({ conditions: cleared('True') });
  assert.match(await watcher(true, ...kept), /cannot delete resource "remediations"/);
  const all = `/apis/tapfix.dev/v1alpha1/namespaces/${shop}/remediations`;
  assert.match(await controller(true, '--raw', all), /cannot deletecollection resource "remediations"/);
  await controller(false, ...kept);
  assert.equal(await cluster.get('remediations.tapfix.dev', shop, 'kept'), undefined);
});
