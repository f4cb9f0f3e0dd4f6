import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { actions } from '../actions/table.ts';
import { UserError } from '../lib/errors.ts';
import { defaults, renderManifests } from '../manifests/render.ts';

export interface ManifestsOptions {
  image?: string;
  namespace?: string;
  out?: string;
}

/** `tapfix manifests`: everything to apply, as one stream or as files. */
export async function runManifests(options: ManifestsOptions, io: { print(text: string): void }): Promise<number> {
  const { namespace = defaults.namespace, image = defaults.image, out } = options;
  // It ends up in names and in expressions of the admission policies.
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace)) {
    throw new UserError(`--namespace ${JSON.stringify(namespace)} is no name of a namespace: use a-z, 0-9 and -`, 2);
  }
  if (!/^\S+$/.test(image)) throw new UserError('--image needs the name of an image', 2);
  const files = renderManifests({ namespace, image, actions });
  if (out === undefined) {
    io.print([...files.values()].join('').trimEnd());
    return 0;
  }
  await mkdir(out, { recursive: true });
  for (const [name, text] of files) {
    const path = join(out, name);
    await writeFile(path, text);
    io.print(`wrote ${path}`);
  }
  return 0;
}
