import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { actions } from '../../../src/actions/table.ts';
import { runManifests } from '../../../src/cli/manifests.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { defaults, renderManifests } from '../../../src/manifests/render-manifests.ts';

const committed = join(import.meta.dirname, '../../../deploy/manifests');
const fresh = renderManifests({ ...defaults, actions });

const objectsOf = (text: string): Manifest[] => parseAllDocuments(text).map((document) => document.toJS() as Manifest);

async function printed(options: Parameters<typeof runManifests>[0]): Promise<string> {
  const lines: string[] = [];
  assert.equal(await runManifests(options, { print: (text) => lines.push(text) }), 0);
  return lines.join('\n');
}

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
  const kinds = [...fresh.values()].map((text) => objectsOf(text).map(({ kind }) => kind));
  const first = (kind: string) => kinds.findIndex((all) => all.includes(kind));
  const order = ['Namespace', 'ValidatingAdmissionPolicy', 'CustomResourceDefinition', 'ClusterRole', 'Deployment'];
  const places = [...order, 'MutatingAdmissionPolicy'].map(first);
  assert.deepEqual(places, places.toSorted());
  assert.deepEqual(kinds.at(-1), ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding']);
});

test('everything follows the namespace and the image', async () => {
  const text = await printed({ namespace: 'ops', image: 'registry.example.com/tapfix:9' });
  const objects = objectsOf(text);
  assert.deepEqual(new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? [])), new Set(['ops']));
  assert.doesNotMatch(text, /serviceaccount:tapfix:|namespace: tapfix\b|localhost\/tapfix/);
  assert.equal(text.match(/image: registry\.example\.com\/tapfix:9/g)?.length, 2);
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

test('files are written where asked, and named', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'manifests-'));
  const out = join(parent, 'new');
  const said = await printed({ out });
  assert.deepEqual((await readdir(out)).sort(), [...fresh.keys()]);
  assert.equal(said, [...fresh.keys()].map((name) => `wrote ${join(out, name)}`).join('\n'));
  await rm(parent, { recursive: true });
});

for (const namespace of ['', 'Ops', "a' || true || '", 'a'.repeat(64)]) {
  test(`${JSON.stringify(namespace)} is no namespace`, async () => {
    await assert.rejects(printed({ namespace }), { name: 'UserError', exitCode: 2 });
  });
}
