import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { exec } from './exec.ts';

/** The part of an image's configuration that the container runtime reads. */
export interface ImageConfig {
  readonly Entrypoint: readonly string[];
  readonly Env?: readonly string[];
  readonly WorkingDir?: string;
  readonly User?: string;
  readonly Labels?: Readonly<Record<string, string>>;
  readonly ExposedPorts?: Readonly<Record<string, object>>;
}

const architectures: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };

/**
 * Packs a directory as an image of one layer, in the form `docker save` writes:
 * https://github.com/moby/docker-image-spec/blob/v1.3.1/spec.md#combined-image-json--filesystem-changeset-format
 */
export async function packImage(root: string, tag: string, config: ImageConfig, out: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'image-'));
  try {
    const layer = join(work, 'layer.tar');
    await tar(layer, root, ['.']);
    await writeFile(join(work, 'config.json'), JSON.stringify(configDocument(config, await sha256(layer))));
    const manifest = [{ Config: 'config.json', RepoTags: [tag], Layers: ['layer.tar'] }];
    await writeFile(join(work, 'manifest.json'), JSON.stringify(manifest));
    await tar(`${out}.part`, work, ['manifest.json', 'config.json', 'layer.tar']);
    await rename(`${out}.part`, out);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Owner and times are fixed, so the same files always give the same image. */
async function tar(file: string, directory: string, entries: readonly string[]): Promise<void> {
  const stable = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0'];
  await exec('tar', ['--create', `--file=${file}`, ...stable, `--directory=${directory}`, ...entries]);
}

function configDocument(config: ImageConfig, layerDigest: string): object {
  return {
    created: '1970-01-01T00:00:00Z',
    architecture: architectures[process.arch] ?? process.arch,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: [`sha256:${layerDigest}`] },
  };
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
