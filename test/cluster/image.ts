import { chmod, cp, mkdir, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import { parseDockerfile, type Dockerfile } from './dockerfile.ts';
import { exec } from './exec.ts';
import { packImage, type ImageConfig } from './image-archive.ts';

/** The Node that stands in for the base image: the npm package `node` brings it. */
const nodeBinary = resolve(import.meta.dirname, '../../node_modules/node/bin/node');

export interface ImageRequest {
  /** Path of the Dockerfile. */
  readonly dockerfile: string;
  /** The directory its COPY lines are relative to. */
  readonly context: string;
  readonly tag: string;
  /** The tar file to write. */
  readonly out: string;
}

/** Follows a Dockerfile without a container engine or a registry: its base image becomes Node and its libraries. */
export async function buildImageTar({ dockerfile, context, tag, out }: ImageRequest): Promise<void> {
  const file = parseDockerfile(await readFile(dockerfile, 'utf8'));
  await inEmptyRoot(async (root) => {
    await addNode(root);
    for (const { sources, target } of file.copies) await copyInto(root, context, sources, target);
    await mkdir(join(root, file.workdir), { recursive: true });
    await packImage(root, tag, configOf(file), out);
  });
}

/** Names by which the program can be called as well, as in an image with a shell. */
const alsoKnownAs = ['/bin/sleep', '/bin/false'];

/** An image of one static program. A label keeps two tags of one program apart: two images, not one with two names. */
export async function buildProgramImage(
  binary: string,
  tag: string,
  entrypoint: readonly string[],
  out: string,
): Promise<void> {
  const program = entrypoint[0];
  if (program === undefined) throw new RangeError('an image needs an entrypoint');
  await inEmptyRoot(async (root) => {
    await addFile(root, binary, program);
    await mkdir(join(root, 'bin'), { recursive: true });
    for (const name of alsoKnownAs) await symlink(program, join(root, name));
    await packImage(root, tag, { Entrypoint: entrypoint, User: '65532', Labels: { tag } }, out);
  });
}

async function inEmptyRoot(work: (root: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'image-root-'));
  try {
    // The image's root directory gets this directory's mode, and must be open to any user.
    await chmod(root, 0o755);
    await mkdir(join(root, 'tmp'));
    await chmod(join(root, 'tmp'), 0o1777);
    await work(root);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function addNode(root: string): Promise<void> {
  await addFile(root, nodeBinary, '/usr/local/bin/node');
  for (const library of await sharedLibraries(nodeBinary)) await addFile(root, library, library);
  // Where the distroless images keep it.
  await mkdir(join(root, 'nodejs/bin'), { recursive: true });
  await symlink('/usr/local/bin/node', join(root, 'nodejs/bin/node'));
}

/** `ldd` names the loader and every library with its full path. */
async function sharedLibraries(binary: string): Promise<string[]> {
  const listing = await exec('ldd', [binary]);
  return [...listing.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
}

async function addFile(root: string, source: string, target: string): Promise<void> {
  const inside = join(root, target);
  await mkdir(dirname(inside), { recursive: true });
  // A library's path is often a link to its versioned name: what it leads to is what belongs here.
  await cp(source, inside, { dereference: true });
}

async function copyInto(root: string, context: string, sources: readonly string[], target: string): Promise<void> {
  const intoDirectory = target.endsWith('/') || sources.length > 1;
  for (const source of sources) {
    const from = resolve(context, source);
    const isDirectory = (await stat(from)).isDirectory();
    const to = join(root, intoDirectory && !isDirectory ? join(target, basename(source)) : normalize(target));
    await mkdir(dirname(to), { recursive: true });
    await cp(from, to, { recursive: true });
  }
}

function configOf(file: Dockerfile): ImageConfig {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', ...file.env };
  return {
    Entrypoint: file.entrypoint,
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    WorkingDir: file.workdir,
    ...(file.user !== undefined && { User: file.user }),
    Labels: file.labels,
    ExposedPorts: Object.fromEntries(file.ports.map((port) => [port, {}])),
  };
}
