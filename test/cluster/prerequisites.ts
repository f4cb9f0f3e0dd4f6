import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What the machine has, as far as the cluster cares. */
export interface Machine {
  readonly platform: string;
  readonly uid: number;
  hasCommand(name: string): boolean;
  hasCniPlugins(): boolean;
}

const cniPlugins = ['ptp', 'host-local', 'portmap', 'loopback'];
export const cniDirectory = '/usr/lib/cni';
/** Where Debian keeps administrators' commands; a login shell's PATH may lack them. */
const systemDirectories = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

const packageOfCommand: Record<string, string> = {
  runc: 'runc',
  iptables: 'iptables',
  ip: 'iproute2',
  openssl: 'openssl',
  unshare: 'util-linux',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
};
const usualPackages = ['runc', 'containernetworking-plugins', 'iptables', 'iproute2', 'openssl'];

export const goIsMissing = 'Go is missing (get 1.26 or newer from https://go.dev/dl/)';

/** One sentence that names everything missing and how to get it; undefined when the cluster can start. */
export function whatIsMissing(machine: Machine): string | undefined {
  if (machine.platform !== 'linux')
    return 'The test cluster needs Linux: run it on a Linux machine or in a virtual one.';
  const complaints = [rootComplaint(machine), goComplaint(machine), packagesComplaint(machine)].filter(
    (complaint) => complaint !== undefined,
  );
  return complaints.length === 0 ? undefined : `The test cluster cannot start: ${complaints.join('; ')}.`;
}

function rootComplaint({ uid }: Machine): string | undefined {
  return uid === 0 ? undefined : 'it needs root (run it with sudo)';
}

function goComplaint(machine: Machine): string | undefined {
  return machine.hasCommand('go') ? undefined : goIsMissing;
}

function packagesComplaint(machine: Machine): string | undefined {
  const commands = Object.keys(packageOfCommand).filter((name) => !machine.hasCommand(name));
  const missing = machine.hasCniPlugins() ? commands : [...commands, `the CNI plugins in ${cniDirectory}`];
  if (missing.length === 0) return undefined;
  const needsUtilLinux = commands.some((name) => packageOfCommand[name] === 'util-linux');
  const packages = needsUtilLinux ? [...usualPackages, 'util-linux'] : usualPackages;
  return `${missing.join(', ')} missing (apt-get install -y ${packages.join(' ')})`;
}

export function pathWithSystemDirectories(path = process.env.PATH ?? ''): string {
  return [path, ...systemDirectories].join(delimiter);
}

/** The full path of a command, or undefined. */
export function findCommand(name: string): string | undefined {
  return pathWithSystemDirectories()
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

export function thisMachine(): Machine {
  return {
    platform: process.platform,
    uid: process.getuid?.() ?? -1,
    hasCommand: (name) => findCommand(name) !== undefined,
    hasCniPlugins: () => cniPlugins.every((name) => isExecutable(join(cniDirectory, name))),
  };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
