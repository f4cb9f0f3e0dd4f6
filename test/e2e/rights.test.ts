import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { actions } from '../../src/actions/table.ts';
import { accounts } from '../../src/manifests/manifest.ts';
import { declaredRights } from '../../src/manifests/rights.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
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

test('the writer may do nothing at all while no fix is under way', async () => {
  for (const namespace of [shop, 'tapfix']) assert.deepEqual(await granted(accounts.writer, namespace), []);
});
