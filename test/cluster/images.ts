import { join } from 'node:path';
import { appImages, containerdSocket, pauseImage } from './facts.ts';
import { exec } from './exec.ts';
import { buildProgramImage } from './image.ts';
import type { Layout } from './layout.ts';

/** Packs the images every cluster starts with and returns their files. */
export async function packOwnImages(at: Layout): Promise<string[]> {
  const wanted = [
    { tag: pauseImage, entrypoint: ['/pause', 'pause'] },
    ...appImages.map((tag) => ({ tag, entrypoint: ['/app'] })),
  ];
  return Promise.all(
    wanted.map(async ({ tag, entrypoint }) => {
      const out = join(at.images, `${tag.replaceAll(/\W/g, '-')}.tar`);
      await buildProgramImage(at.workload, tag, entrypoint, out);
      return out;
    }),
  );
}

/** The kubelet sees what lands in this namespace of containerd. */
export async function importImage(programs: string, tarFile: string): Promise<void> {
  await exec(join(programs, 'ctr'), [
    '--address',
    containerdSocket,
    '--namespace',
    'k8s.io',
    'images',
    'import',
    tarFile,
  ]);
}
