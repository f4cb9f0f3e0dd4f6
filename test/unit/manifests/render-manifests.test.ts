import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { actions } from '../../../src/actions/table.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import {
  configFile,
  defaults,
  installFile,
  isAsGenerated,
  renderManifests,
} from '../../../src/manifests/render-manifests.ts';

const committed = join(import.meta.dirname, '../../../deploy/manifests');
const fresh = renderManifests({ ...defaults, actions });

const objectsOf = (text: string): Manifest[] => parseAllDocuments(text).map((document) => document.toJS() as Manifest);

test('deploy/manifests is what the code says', async () => {
  assert.deepEqual((await readdir(committed)).sort(), [...fresh.keys()], 'run `npm run manifests`');
  for (const [name, text] of fresh) {
    assert.equal(
      await readFile(join(committed, name), 'utf8'),
      text,
      `${name} is out of date: run \`npm run manifests\``,
    );
  }
});

test('in the order of their names the policies come before what they guard, rights after both, the stamp last', () => {
  const kinds = [...fresh]
    .filter(([name]) => name !== installFile)
    .map(([, text]) => text)
    .map((text) => objectsOf(text).map(({ kind }) => kind));
  const first = (kind: string) => kinds.findIndex((all) => all.includes(kind));
  const order = ['Namespace', 'ValidatingAdmissionPolicy', 'CustomResourceDefinition', 'ClusterRole', 'Deployment'];
  const places = [...order, 'MutatingAdmissionPolicy'].map(first);
  assert.deepEqual(places, places.toSorted());
  assert.deepEqual(kinds.at(-1), ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding']);
});

test('two installs share what is the same and bring their own of the rest', () => {
  const clusterScoped = (namespace: string) =>
    [...renderManifests({ ...defaults, namespace, actions }).values()]
      .flatMap(objectsOf)
      .filter(({ metadata }) => metadata.namespace === undefined)
      .map((object) => [`${object.kind} ${object.metadata.name}`, JSON.stringify(object)] as const);
  const first = new Map(clusterScoped('tapfix'));
  for (const [name, content] of clusterScoped('ops')) {
    if (first.has(name)) assert.equal(content, first.get(name), `${name} would be taken over`);
  }
});

test('install.yaml is every numbered file but the configuration and the stamping, in their order', () => {
  const parts = [...fresh].filter(([name]) => ![installFile, configFile, '90-stamping.yaml'].includes(name));
  const install = objectsOf(fresh.get(installFile)!);
  assert.deepEqual(
    install,
    parts.flatMap(([, text]) => objectsOf(text)),
  );
  assert(!install.some(({ metadata }) => metadata.name === 'tapfix-config'));
});

test('the starting configuration is config.starter.yaml, of twelve lines', async () => {
  const starter = await readFile(join(committed, '../../config.starter.yaml'), 'utf8');
  const [map] = objectsOf(fresh.get(configFile)!) as (Manifest & { data: Record<string, string> })[];
  assert.equal(map!.data['config.yaml'], starter);
  assert.equal(starter.trimEnd().split('\n').length, 12);
});

test('a file of ours is known as long as nobody has edited it', () => {
  for (const [name, text] of fresh) {
    assert(isAsGenerated(text), name);
    assert(!isAsGenerated(text.replace('tapfix', 'tapfiks')), name);
    assert(!isAsGenerated(`${text}# mine\n`), name);
  }
  assert(!isAsGenerated(''));
});
