import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseConfig } from '../../../src/config/load.ts';
import { defaults } from '../../../src/manifests/render-manifests.ts';
import {
  configMap,
  deployments,
  leases,
  namespaceManifest,
  serviceAccounts,
} from '../../../src/manifests/workloads.ts';
import { parseDockerfile } from '../../cluster/dockerfile.ts';

interface Deployment {
  metadata: { name: string };
  spec: {
    replicas: number;
    strategy: object;
    selector: { matchLabels: object };
    template: {
      spec: {
        serviceAccountName: string;
        topologySpreadConstraints: { topologyKey: string; whenUnsatisfiable: string }[];
        securityContext: object;
        containers: { args: string[]; env: object[]; image: string; volumeMounts: object[]; securityContext: object }[];
        volumes: object[];
      };
    };
  };
}

interface Budget {
  kind: string;
  metadata: { name: string };
  spec: object;
}

const install = { ...defaults, actions: [] };
const [watcher, controller, ...budgets] = deployments(install) as unknown as [Deployment, Deployment, ...Budget[]];

for (const { metadata, spec } of [watcher, controller]) {
  const pod = spec.template.spec;
  const [container] = pod.containers;
  test(`${metadata.name} runs as its own account, and locked down`, () => {
    assert.equal(pod.serviceAccountName, metadata.name);
    assert.deepEqual(pod.securityContext, {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    assert.deepEqual(container?.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test(`${metadata.name} runs twice, on two nodes if there are, and is never without a replica that is Ready`, () => {
    assert.equal(spec.replicas, 2);
    assert.deepEqual(spec.strategy, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
    const [spread] = pod.topologySpreadConstraints;
    assert.deepEqual([spread?.topologyKey, spread?.whenUnsatisfiable], ['kubernetes.io/hostname', 'ScheduleAnyway']);
    const budget = budgets.find((one) => one.metadata.name === metadata.name);
    assert.equal(budget?.kind, 'PodDisruptionBudget');
    assert.deepEqual(budget?.spec, { maxUnavailable: 1, selector: spec.selector });
  });

  test(`${metadata.name} knows its own name, which is what it signs the Lease with`, () => {
    const fieldRef = { fieldPath: 'metadata.name' };
    assert.deepEqual(container?.env[1], { name: 'POD_NAME', valueFrom: { fieldRef } });
  });

  test(`${metadata.name} mounts directories, so that what changes in them arrives`, () => {
    assert.deepEqual(container?.volumeMounts[0], { name: 'config', mountPath: '/etc/tapfix', readOnly: true });
    assert.doesNotMatch(JSON.stringify(pod), /subPath/);
  });
}

test('the Leases are there before anybody holds them, and applying them again takes them from nobody', () => {
  assert.deepEqual(
    leases(install).map(({ kind, metadata, spec }) => [kind, metadata.namespace, metadata.name, spec]),
    ['tapfix-watcher', 'tapfix-controller'].map((name) => ['Lease', 'tapfix', name, undefined]),
  );
});

test('the tokens of the chat are in the watcher only', () => {
  assert.match(JSON.stringify(watcher), /"tapfix-chat","optional":true/);
  assert.match(JSON.stringify(watcher), /SLACK_APP_TOKEN_FILE/);
  assert.doesNotMatch(JSON.stringify(controller), /chat|TOKEN/);
});

test('no pod is given a token of the writer by itself', () => {
  const writer = serviceAccounts(install).find(({ metadata }) => metadata.name === 'tapfix-writer');
  assert.equal(writer?.['automountServiceAccountToken'], false);
});

test('the namespace enforces the restricted pod security', () => {
  assert.equal(namespaceManifest(install).metadata.labels?.['pod-security.kubernetes.io/enforce'], 'restricted');
});

test('the config to start with is valid as it is', () => {
  const { data } = configMap(install) as unknown as { data: Record<string, string> };
  const parsed = parseConfig(data['config.yaml'] ?? '', 'config.yaml');
  assert.ok(parsed.ok, JSON.stringify(parsed));
});

test('the image runs the program as the user the pods ask for', async () => {
  const text = await readFile(join(import.meta.dirname, '../../../deploy/Dockerfile'), 'utf8');
  const { user, entrypoint, copies } = parseDockerfile(text);
  assert.equal(user, '65532');
  assert.deepEqual(
    entrypoint.filter((word) => !word.startsWith('--')),
    ['node', '/app/bin/tapfix.js'],
  );
  assert.deepEqual(
    copies.flatMap(({ sources }) => sources),
    ['package.json', 'LICENSE', 'bin', 'dist'],
  );
  const ignored = await readFile(join(import.meta.dirname, '../../../.dockerignore'), 'utf8');
  const sent = ignored.split('\n').filter((line) => line.startsWith('!'));
  assert.deepEqual(sent, ['!package.json', '!LICENSE', '!bin', '!dist'], 'nothing else is sent to the builder');
});
