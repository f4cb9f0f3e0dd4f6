import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { actions } from '../../src/actions/table.ts';
import { parseConfig } from '../../src/config/load.ts';
import type { Manifest } from '../../src/manifests/manifest.ts';
import { configFile, defaults, installFile, renderManifests } from '../../src/manifests/render-manifests.ts';
import { outcomeOf } from '../cluster/exec.ts';
import { byName, chart, helms, nameOf, rendered, rendering } from './render.ts';

/** The objects of deploy/manifests, but for the namespace, which Helm makes or finds. */
const manifestsOf = (namespace: string, without: readonly string[] = []): Map<string, Manifest> => {
  const files = [...renderManifests({ ...defaults, namespace, actions })];
  const kept = files.filter(([name]) => ![installFile, ...without].includes(name));
  const objects = kept.flatMap(([, text]) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
  return byName(objects.filter(({ kind }) => kind !== 'Namespace'));
};

/** Helm may not delete the definitions with the release; the manifests need no such word. */
function withoutKeep(object: Manifest): Manifest {
  const { annotations, ...metadata } = object.metadata as Manifest['metadata'] & { annotations?: object };
  if (object.kind !== 'CustomResourceDefinition') return object;
  assert.deepEqual(annotations, { 'helm.sh/resource-policy': 'keep' });
  return { ...object, metadata };
}

/** The text of the configuration has comments in the manifest; what it says is the same. */
function withConfig(object: Manifest): Manifest {
  if (object.metadata.name !== 'tapfix-config') return object;
  const { 'config.yaml': text } = object['data'] as Record<string, string>;
  const parsed = parseConfig(text!, 'f');
  assert(parsed.ok, JSON.stringify(parsed));
  return { ...object, data: parsed.config };
}

describe('the chart', { concurrency: 2 }, () => {
  for (const { name, helm } of helms) {
    test(`${name}: lint has nothing to say`, async () => {
      const { code, stdout } = await outcomeOf(helm, ['lint', '--strict', chart]);
      assert.equal(code, 0, stdout);
      assert.doesNotMatch(stdout, /WARNING|ERROR/);
    });

    for (const namespace of ['tapfix', 'ops', '1'])
      test(`${name}: in namespace ${namespace} it is object by object what the manifests are`, async () => {
        const objects = (await rendered({ helm, namespace })).map(withoutKeep);
        const expected = manifestsOf(namespace);
        assert.deepEqual(objects.map(nameOf).sort(), [...expected.keys()].sort());
        for (const object of objects)
          assert.deepEqual(withConfig(object), withConfig(expected.get(nameOf(object))!), nameOf(object));
      });

    test(`${name}: below 1.36 there is no stamping, below 1.30 no installation`, async () => {
      const objects = await rendered({ helm, kubeVersion: '1.35.9' });
      assert.deepEqual(objects.map(nameOf).sort(), [...manifestsOf('tapfix', ['90-stamping.yaml']).keys()].sort());
      const older = await rendering({ helm, kubeVersion: '1.29.14' });
      assert.notEqual(older.code, 0);
      assert.match(older.stderr, /kubeVersion: >=1\.30\.0-0/);
    });

    test(`${name}: a vendor's version of Kubernetes will do`, async () => {
      for (const kubeVersion of ['v1.30.4-eks-a5ec690', 'v1.36.1-gke.1146000'])
        assert.equal((await rendering({ helm, kubeVersion })).code, 0, kubeVersion);
    });
  }

  test('a second release in another namespace can leave out all that is shared, and nothing it brings is the first one’s', async () => {
    const second = await rendered({
      namespace: 'ops',
      values: { crds: { enabled: false }, shared: { enabled: false } },
    });
    const first = byName(await rendered());
    assert.deepEqual(
      second.map(nameOf).filter((name) => first.has(name)),
      [],
    );
    const policies = second.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
    assert.deepEqual(policies.map(({ metadata }) => metadata.name).sort(), [
      'tapfix-controller-ops',
      'tapfix-history-ops',
      'tapfix-retention-ops',
      'tapfix-writer-ops',
    ]);
    const all = byName(await rendered({ namespace: 'ops' }));
    for (const object of second) assert.deepEqual(object, all.get(nameOf(object)));
  });

  test('an upgrade applies every object of the manifests but the configuration and the stamping', () => {
    const text = renderManifests({ ...defaults, actions }).get(installFile)!;
    const objects = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
    const expected = manifestsOf('tapfix', [configFile, '90-stamping.yaml']);
    assert.deepEqual(objects.filter(({ kind }) => kind !== 'Namespace').map(nameOf), [...expected.keys()]);
  });

  test('nothing in the templates asks the cluster, the clock or chance, so that GitOps renders the same', async () => {
    const folder = join(chart, 'templates');
    for (const file of await readdir(folder)) {
      const expressions = (await readFile(join(folder, file), 'utf8')).match(/\{\{.*?\}\}/gs) ?? [];
      const moody = /\b(lookup|now|date\w*|rand\w*|uuidv4|gen[A-Z]\w+|htpasswd|shuffle|getHostByName)\b/;
      assert.deepEqual(
        expressions.filter((one) => moody.test(one.replace(/"[^"]*"|\/\*.*?\*\//gs, ''))),
        [],
        file,
      );
    }
    assert.deepEqual(await rendered(), await rendered());
  });
});
