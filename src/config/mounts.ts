import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isReadOnce } from './read-text.ts';

export interface Mount {
  /** What of the file system is mounted. */
  root: string;
  /** Where. */
  point: string;
}

/** Pure. https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html: the fourth and fifth field; blanks are octal. */
export function mountsIn(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [, , , root, point] = line.split(' ');
    return root && point ? [{ root: plainPath(root), point: plainPath(point) }] : [];
  });
}

const plainPath = (field: string): string =>
  field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** The directory of one version of a ConfigMap or Secret: whoever mounts from inside it has that version for ever. */
const oneVersion = /\/\.\.\d{4}_\d{2}_\d{2}_[^/]*(\/|$)/;

/** Pure. Whether this file is mounted by itself, or out of one version of a volume: then it is never updated. */
export function isFrozen(file: string, mounts: readonly Mount[]): boolean {
  if (mounts.some(({ point }) => point === file)) return true;
  const holds = ({ point }: Mount): boolean => point === '/' || file.startsWith(`${point}/`);
  const nearest = mounts.filter(holds).reduce<Mount | undefined>(
    // Of two at the same place the later one covers the other.
    (best, mount) => (best && best.point.length > mount.point.length ? best : mount),
    undefined,
  );
  return nearest !== undefined && oneVersion.test(nearest.root);
}

/** What to say about it; undefined: it can change. Where there is no such list (not Linux) nothing is claimed. */
export async function whyFrozen(file: string, mountinfo = '/proc/self/mountinfo'): Promise<string | undefined> {
  const path = resolve(file);
  if (await isReadOnce(path))
    return `${path} is no file but a pipe or a device: it was read once, and no change of it is seen`;
  const text = await readFile(mountinfo, 'utf8').catch(() => '');
  return isFrozen(path, mountsIn(text))
    ? `${path} is mounted by subPath, so it never changes while this pod lives: mount the volume as the directory ${dirname(path)}, without subPath`
    : undefined;
}
