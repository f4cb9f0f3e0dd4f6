import { rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { build, type BuildFailure, type BuildOptions, type Metafile, type Plugin } from 'esbuild';
import { UserError } from '../src/lib/errors.ts';
import { licencesOf } from './licences.ts';

/**
 * `build.ts [--entry FILE] [--outdir DIR] [--quiet]` bundles the program: src/main.ts becomes dist/main.js, and whatever is
 * imported dynamically becomes a file of its own, so that a chat's library is only loaded by who uses it. Beside them are
 * the licences of everything that is in them.
 */
const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: { entry: { type: 'string' }, outdir: { type: 'string' }, quiet: { type: 'boolean', default: false } },
});
const entry = values.entry ?? join(root, 'src/main.ts');
const outdir = values.outdir ?? join(root, 'dist');

/**
 * We use its credentials only. Nothing in it has side effects on import, and its unused generated models would be bundled.
 * Its files import each other by their whole names, so no lookup is needed: asking esbuild for thousands of them is slow.
 */
const clientWithoutSideEffects: Plugin = {
  name: 'client-without-side-effects',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\/.*\.js$/ }, ({ path, importer, resolveDir }) =>
      importer.includes('/@kubernetes/client-node/') ? { path: join(resolveDir, path), sideEffects: false } : undefined,
    );
  },
};

/** CommonJS dependencies call require, which an ES module does not have. */
const banner = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`;

const options = {
  entryPoints: [{ in: entry, out: 'main' }],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  minifySyntax: true,
  legalComments: 'none',
  chunkNames: '[name]-[hash]',
  banner: { js: banner },
  plugins: [clientWithoutSideEffects],
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions;

try {
  await rm(outdir, { recursive: true, force: true });
  const { metafile } = await build(options);
  await writeFile(join(outdir, 'THIRD-PARTY-LICENSES.txt'), await licencesOf(metafile));
  if (!values.quiet) console.log(sizes(metafile));
} catch (error) {
  process.exitCode = 1;
  // esbuild has printed the mistakes in our code itself. It throws anything else when its binary is missing or cannot run.
  if (error instanceof UserError) console.error(error.message);
  else if (!isMistakeInCode(error))
    console.error(
      `esbuild cannot run (${firstSentence(error)}): run npm ci --ignore-scripts=false --include=optional.`,
    );
}

function isMistakeInCode(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}

function firstSentence(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split(/\.?\n/)[0]!;
}

function line(bytes: number, name: string): string {
  return `${(bytes / 1024).toFixed(0).padStart(6)} KB  ${name}`;
}

function sizes({ outputs }: Metafile): string {
  const rows = Object.entries(outputs).sort(([, a], [, b]) => b.bytes - a.bytes);
  const total = rows.reduce((sum, [, { bytes }]) => sum + bytes, 0);
  return [...rows.map(([file, { bytes }]) => line(bytes, relative('', file))), line(total, 'in all')].join('\n');
}
