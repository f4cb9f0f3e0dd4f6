import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whatIsMissing, type Machine } from '../../cluster/prerequisites.ts';

const install = 'apt-get install -y runc containernetworking-plugins iptables iproute2 openssl';

const aMachine = (
  over: { platform?: string; uid?: number; without?: readonly string[]; cni?: boolean } = {},
): Machine => ({
  platform: over.platform ?? 'linux',
  uid: over.uid ?? 0,
  hasCommand: (name) => !(over.without ?? []).includes(name),
  hasCniPlugins: () => over.cni ?? true,
});

const cases = [
  { name: 'a complete machine lacks nothing', machine: aMachine(), want: undefined },
  {
    name: 'another system is told so',
    machine: aMachine({ platform: 'darwin' }),
    want: 'The test cluster needs Linux: run it on a Linux machine or in a virtual one.',
  },
  {
    name: 'without root',
    machine: aMachine({ uid: 1000 }),
    want: 'The test cluster cannot start: it needs root (run it with sudo).',
  },
  {
    name: 'without Go',
    machine: aMachine({ without: ['go'] }),
    want: 'The test cluster cannot start: Go is missing (get 1.26 or newer from https://go.dev/dl/).',
  },
  {
    name: 'without a package',
    machine: aMachine({ without: ['runc', 'ip'] }),
    want: `The test cluster cannot start: runc, ip missing (${install}).`,
  },
  {
    name: 'without CNI plugins',
    machine: aMachine({ cni: false }),
    want: `The test cluster cannot start: the CNI plugins in /usr/lib/cni missing (${install}).`,
  },
  {
    name: 'without unshare, whose package is nearly always there',
    machine: aMachine({ without: ['unshare'] }),
    want: `The test cluster cannot start: unshare missing (${install} util-linux).`,
  },
  {
    name: 'everything missing is still one sentence',
    machine: aMachine({ uid: 1000, without: ['go', 'iptables'] }),
    want: `The test cluster cannot start: it needs root (run it with sudo); Go is missing (get 1.26 or newer from https://go.dev/dl/); iptables missing (${install}).`,
  },
];

for (const { name, machine, want } of cases) {
  test(`prerequisites: ${name}`, () => assert.equal(whatIsMissing(machine), want));
}
