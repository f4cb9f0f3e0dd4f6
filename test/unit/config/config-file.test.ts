import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isFrozen, mountsIn, whyFrozen } from '../../../src/config/config-file.ts';

const file = '/etc/tapfix/config.yaml';
const volume = '/var/lib/kubelet/pods/6f/volumes/kubernetes.io~configmap/config';
const line = (root: string, point: string): string => `812 790 253:1 ${root} ${point} ro,relatime - ext4 /dev/vda1 rw`;
const others = ['790 512 0:70 / / rw,relatime - overlay overlay rw', line('/hosts', '/etc/hosts')];

const cases: [string, string[], boolean][] = [
  ['the volume as a directory', [line(volume, '/etc/tapfix')], false],
  ['the file alone, by subPath', [line(`${volume}/..2026_11_17_03_12_05.1/config.yaml`, file)], true],
  ['the file alone, bound by a container runtime', [line('/home/ada/config.yaml', file)], true],
  ['a directory of the volume, by subPath', [line(`${volume}/..2026_11_17_03_12_05.1/sub`, '/etc/tapfix')], true],
  [
    'that one covered by the whole volume',
    [line(`${volume}/..2026_11_17_03_12_05.1/sub`, '/etc/tapfix'), line(volume, '/etc/tapfix')],
    false,
  ],
  ['another file of the same directory', [line('/x', '/etc/tapfix/config.yaml.old')], false],
  ['a directory whose name only begins the same', [line(`${volume}/..2026_11_17_03_12_05.1/sub`, '/etc/tap')], false],
  ['no mount of its own', [], false],
];
for (const [name, lines, want] of cases)
  test(name, () => assert.equal(isFrozen(file, mountsIn([...others, ...lines, ''].join('\n'))), want));

test('blanks in a path are octal', () =>
  assert.deepEqual(mountsIn(line('/a\\040b', '/etc/my\\040config')), [{ root: '/a b', point: '/etc/my config' }]));

test('it says how to mount the directory; where there is no such list nothing is claimed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tapfix-mounts-'));
  after(() => rmSync(folder, { recursive: true }));
  const list = join(folder, 'mountinfo');
  writeFileSync(list, line('/x', file));
  assert.match(
    (await whyFrozen(file, list)) ?? '',
    /^\/etc\/tapfix\/config\.yaml is mounted by subPath.* the directory \/etc\/tapfix, without subPath$/,
  );
  assert.equal(await whyFrozen(file, join(folder, 'none')), undefined);
  assert.equal(await whyFrozen('/nowhere/else.yaml'), undefined);
});
