import { constants, createReadStream, type ReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { messageOf, UserError } from '../lib/errors.ts';

const maxBytes = 1024 * 1024;

/** Reads a text file of a size that a person writes; anything else gives an error of one clear line. */
export async function readText(file: string): Promise<string> {
  return textIn(file, await readAtMost(file, () => createReadStream(file, { end: maxBytes })));
}

/** How standard input is named on a command line, and in messages. */
export const standardInput = { argument: '-', name: 'standard input' } as const;

/** The same of what is piped in. */
export async function readInput(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) break; // it may never end
  }
  return textIn(standardInput.name, Buffer.concat(chunks));
}

/** Reads again what was read before. A pipe is not read again: opening one waits for its writer, maybe for ever. */
export async function readAgain(file: string): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  try {
    const found = await handle.stat();
    if (!found.isFile() && !found.isDirectory()) throw new UserError(`${file} is a pipe or a device, not a file`, 2);
    return textIn(file, await readAtMost(file, () => handle.createReadStream({ end: maxBytes, autoClose: false })));
  } finally {
    await handle.close();
  }
}

/**
 * Whether it is a pipe or a device. False for a file that does not exist or may not be looked at: reading it then
 * reports what is wrong.
 */
export async function isReadOnce(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

function textIn(file: string, bytes: Buffer): string {
  if (bytes.length > maxBytes) throw new UserError(`${file} is larger than 1 MB: is it the right file?`, 2);
  if (bytes.includes(0)) throw new UserError(`${file} is not a text file: it contains a NUL byte`, 2);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new UserError(`${file} is not a text file in UTF-8`, 2, error);
  }
}

/**
 * A device or pipe may never end, so the size is limited while reading: one byte more than allowed shows that it is too
 * large.
 */
async function readAtMost(file: string, stream: () => ReadStream): Promise<Buffer> {
  try {
    const chunks: Buffer[] = await stream().toArray();
    return Buffer.concat(chunks);
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): UserError {
  const message = whyUnreadable(file, error);
  return isMissing(error) ? new MissingFile(message, 2) : new UserError(message, 2);
}

/** It does not exist: perhaps not yet, perhaps not at this moment. */
export class MissingFile extends UserError {}

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

function whyUnreadable(file: string, error: unknown): string {
  const why: Record<string, string> = {
    ENOENT: 'does not exist',
    ENOTDIR: 'does not exist',
    EISDIR: 'is a directory: name the file in it',
    EACCES: 'may not be read by this user',
  };
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return `${file || '""'} ${why[code] ?? `cannot be read: ${messageOf(error)}`}`;
}

interface Mount {
  /** The part of the file system that is mounted. */
  root: string;
  /** The mount point. */
  point: string;
}

/**
 * Pure. Uses the fourth and fifth field; blanks are octal.
 * https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
 */
export function mountsIn(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [, , , root, point] = line.split(' ');
    return root && point ? [{ root: plainPath(root), point: plainPath(point) }] : [];
  });
}

const plainPath = (field: string): string =>
  field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** The directory of one version of a ConfigMap or Secret: a mount from inside it keeps that version for ever. */
const oneVersion = /\/\.\.\d{4}_\d{2}_\d{2}_[^/]*(\/|$)/;

/** Pure. Whether this file is mounted by itself, or out of one version of a volume: then it is never updated. */
export function isFrozen(file: string, mounts: readonly Mount[]): boolean {
  if (mounts.some(({ point }) => point === file)) return true;
  const holds = ({ point }: Mount): boolean => point === '/' || file.startsWith(`${point}/`);
  const nearest = mounts.filter(holds).reduce<Mount | undefined>(
    // If two are mounted at the same place, the later one covers the other.
    (best, mount) => (best && best.point.length > mount.point.length ? best : mount),
    undefined,
  );
  return nearest !== undefined && oneVersion.test(nearest.root);
}

/**
 * Why it never changes, as a text; undefined: it can change. Where there is no list of mounts (not Linux), undefined as
 * well.
 */
export async function whyFrozen(file: string, mountinfo = '/proc/self/mountinfo'): Promise<string | undefined> {
  const path = resolve(file);
  if (await isReadOnce(path))
    return `${path} is a pipe or a device, not a file: it was read once, and changes to it are not seen`;
  const text = await readFile(mountinfo, 'utf8').catch(() => '');
  return isFrozen(path, mountsIn(text))
    ? `${path} is mounted by subPath, so it never changes while this pod lives: mount the volume as the directory ${dirname(path)}, without subPath`
    : undefined;
}
