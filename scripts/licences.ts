import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Metafile } from 'esbuild';
import { UserError } from '../src/lib/errors.ts';

/*
 * The licences of the packages of which code is in the bundle: most ask that their text goes wherever their code goes.
 * The list comes from esbuild, so a new dependency cannot be forgotten.
 */

const inPackage = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//;

/** The folders of the packages in the bundle, by name; one package may be there in two versions. */
export function packagesIn({ outputs }: Metafile): { name: string; folder: string }[] {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const found = files.flatMap((file) => {
    const [, folder, name] = inPackage.exec(file) ?? [];
    return folder === undefined || name === undefined ? [] : [[folder, name] as const];
  });
  return [...new Map(found)]
    .map(([folder, name]) => ({ name, folder: resolve(folder) }))
    .sort((a, b) => (a.folder < b.folder ? -1 : 1));
}

const isLicence = (file: string): boolean =>
  /^(?:licen[cs]e|copying|notice)/i.test(file) && !/\.(?:[cm]?[jt]s|json)$/.test(file);

interface Manifest {
  version: string;
  license?: string;
  author?: string | { name: string };
}

async function textOf(folder: string): Promise<string> {
  const files = (await readdir(folder)).filter(isLicence).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return texts.map((text) => text.trim()).join('\n\n');
}

/** The text that https://spdx.org/licenses/MIT.html has, for a package that names this licence and does not bring it. */
const mit = (holder: string): string => `Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

function standardText({ license, author }: Manifest): string {
  const holder = typeof author === 'string' ? author : author?.name;
  return license === 'MIT' && holder ? mit(holder) : '';
}

const rule = '-'.repeat(80);

/** One text with all of them. Throws if a package has none, because then its code may not be passed on. */
export async function licencesOf(metafile: Metafile): Promise<string> {
  const sections = await Promise.all(
    packagesIn(metafile).map(async ({ name, folder }) => {
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
      const text = (await textOf(folder)) || standardText(manifest);
      const { version, license } = manifest;
      if (!text) throw new UserError(`${name} ${version} is bundled and has no licence text (it names ${license})`);
      return `${rule}\n${name} ${version} (${license})\n${rule}\n\n${text}\n`;
    }),
  );
  return `The files beside this one hold code of these packages, under these licences.\n\n${sections.join('\n')}`;
}
