import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingIn, missingInWords, needs, referencesIn } from '../../../../src/diagnosis/words/references.ts';

const missing: [text: string, want: string][] = [
  ['configmap "missing" not found', 'ConfigMap missing does not exist'],
  ['Error: secret "db" not found', 'Secret db does not exist'],
  ["couldn't find key LOG_LEVEL in ConfigMap shop/web-config", 'ConfigMap web-config has no key LOG_LEVEL'],
  ["Error: couldn't find key password in Secret shop/db.v2", 'Secret db.v2 has no key password'],
  ['MountVolume.SetUp failed for volume "s" : secret "nope" not found', 'Secret nope does not exist'],
  ['MountVolume.SetUp failed for volume "tls" : references non-existent secret key: tls.crt', 'the Secret of volume tls has no key tls.crt'],
  ['MountVolume.SetUp failed for volume "c" : configmap references non-existent config key: app.yaml', 'the ConfigMap of volume c has no key app.yaml'],
  ['MountVolume.SetUp failed for volume "all" : [secret "a" not found, configmap "b" not found]', 'Secret a does not exist; ConfigMap b does not exist'],
  ['container has runAsNonRoot and image will run as root', ''],
]; // prettier-ignore
for (const [text, want] of missing)
  test(`missing: ${want || 'nothing by name'}`, () =>
    assert.equal(missingIn(text).map(missingInWords).join('; '), want));

const template = {
  spec: {
    initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 'init' } }] }],
    containers: [
      {
        name: 'app',
        env: [
          { name: 'A', valueFrom: { configMapKeyRef: { name: 'web', key: 'a' } } },
          { name: 'B', valueFrom: { secretKeyRef: { name: 'db', key: 'b', optional: true } } },
          { name: 'C', value: 'plain' },
        ],
        envFrom: [{ configMapRef: { name: 'all', optional: true } }],
      },
    ],
    volumes: [
      { name: 'tls', secret: { secretName: 'cert', items: [{ key: 'tls.crt', path: 'x' }] } },
      { name: 'both', projected: { sources: [{ configMap: { name: 'p1' } }, { secret: { name: 'p2' } }] } },
      { name: 'maybe', configMap: { name: 'm', optional: true } },
    ],
  },
};

test('what a template needs, and what it only would like', () =>
  assert.deepEqual(
    referencesIn(template).map(({ kind, name, key, volume }) => [kind, name, key, volume].filter(Boolean).join(' ')),
    [
      'Secret init',
      'ConfigMap web a',
      'Secret cert tls',
      'Secret cert tls.crt tls',
      'ConfigMap p1 both',
      'Secret p2 both',
    ],
  ));

const needed: { name: string; of: Parameters<typeof needs>[1]; want: boolean }[] = [
  { name: 'a Secret by its name', of: { kind: 'Secret', name: 'cert' }, want: true },
  { name: 'a key of it', of: { kind: 'Secret', name: 'cert', key: 'tls.crt' }, want: true },
  { name: 'another key of it', of: { kind: 'Secret', name: 'cert', key: 'ca.crt' }, want: false },
  { name: 'a ConfigMap of the same name', of: { kind: 'ConfigMap', name: 'cert' }, want: false },
  { name: 'a key of a volume', of: { kind: 'Secret', name: '', key: 'tls.crt', volume: 'tls' }, want: true },
  { name: 'a key of another volume', of: { kind: 'Secret', name: '', key: 'tls.crt', volume: 'other' }, want: false },
  { name: 'what is optional', of: { kind: 'ConfigMap', name: 'm' }, want: false },
];
for (const { name, of, want } of needed)
  test(`the template needs ${name}: ${want ? 'yes' : 'no'}`, () => assert.equal(needs(template, of), want));

test('an odd template needs nothing', () =>
  assert.deepEqual(referencesIn({ spec: { containers: 7, volumes: [null] } as never }), []));
