import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { actions } from '../actions/table.ts';
import { UserError } from '../lib/errors.ts';
import { configFile, defaults, installFile, isAsGenerated, renderManifests } from '../manifests/render-manifests.ts';

const registry = String.raw`(?:[a-z0-9]+(?:(?:\.|-+)[a-z0-9]+)*|\[[0-9a-f:]+\])(?::\d{1,5})?`;
const part = String.raw`[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*`;
const tag = String.raw`[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}`;

/**
 * An image name as the kubelet reads it: https://github.com/distribution/reference/blob/main/reference.go, with sha256
 * only.
 */
const image = new RegExp(`^(?:${registry}/)?${part}(?:/${part})*(?::${tag})?(?:@sha256:[0-9a-f]{64})?$`);

/** Whether a node could pull an image of this name. */
export const isImage = (name: string): boolean => image.test(name);

export interface ManifestsOptions {
  image?: string;
  namespace?: string;
  out?: string;
  /** Overwrites files that somebody has edited as well. */
  force?: boolean;
}

/** `tapfix manifests`: everything to apply, as one stream or as files. */
export async function runManifests(options: ManifestsOptions, io: { print(text: string): void }): Promise<number> {
  const { namespace = defaults.namespace, image = defaults.image, out, force = false } = options;
  // The namespace becomes part of names and of expressions in the admission policies.
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace)) {
    throw new UserError(`--namespace ${JSON.stringify(namespace)} is not a namespace name: use a-z, 0-9 and -`, 2);
  }
  if (namespace === 'default' || namespace.startsWith('kube-')) {
    throw new UserError(`--namespace ${namespace} is not tapfix's to label and restrict: give it one of its own`, 2);
  }
  if (!isImage(image)) {
    const example = 'write it in lower case, such as registry.example.com/team/tapfix:0.1.0';
    throw new UserError(`--image ${JSON.stringify(image)} is not an image: ${example}`, 2);
  }
  if (out === '') throw new UserError('--out needs the name of a directory', 2);
  const files = renderManifests({ namespace, image, actions });
  if (out !== undefined) return await writeAll(out, files, { print: io.print, force });
  files.delete(installFile); // everything in it is in the other files as well
  io.print([...files.values()].join('').trimEnd());
  return 0;
}

/** Edited files are kept and named. The exit code is 1 if that leaves anything but the configuration as it was. */
async function writeAll(
  out: string,
  files: Map<string, string>,
  { print, force }: { print(text: string): void; force: boolean },
): Promise<number> {
  const kept: string[] = [];
  try {
    await makeDirectory(out);
    for (const [name, text] of files) {
      const path = join(out, name);
      const before = force ? undefined : await textAt(path);
      if (before !== undefined && before !== text && !isAsGenerated(before)) kept.push(name);
      else {
        await writeFile(path, text);
        print(`wrote ${path}`);
      }
    }
  } catch (error) {
    throw new UserError(`--out ${out} ${whyUnwritable(error as NodeJS.ErrnoException)}`, 2, error);
  }
  for (const name of kept) print(`kept ${join(out, name)}, because it was edited: --force overwrites it`);
  return kept.some((name) => name !== configFile) ? 1 : 0;
}

/** undefined: there is no such file yet. */
const textAt = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    // There may be a directory in its place: writing says why that cannot be done.
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return undefined;
    throw error;
  });

/** mkdir's own `recursive` is not used: below /proc Node would retry for ever. */
async function makeDirectory(path: string): Promise<void> {
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) await makeDirectory(parent);
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

function whyUnwritable({ code = 'unknown', path = '' }: NodeJS.ErrnoException): string {
  const why: Record<string, string> = {
    ENOTDIR: 'is a file, or below one: name a directory',
    EISDIR: `cannot be written: ${path} is a directory`,
    EACCES: `may not be written by this user: ${path}`,
    EPERM: `may not be written by this user: ${path}`,
    EROFS: 'is on a file system that is read-only',
    ENOSPC: 'cannot be written: the disk is full',
    ENOENT: 'cannot be made there',
  };
  return why[code] ?? `cannot be written (${code})`;
}
