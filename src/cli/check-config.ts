import { Document, isScalar } from 'yaml';
import { readInput, standardInput } from '../config/config-file.ts';
import { exampleIdsIn } from '../config/example-ids.ts';
import { humanConfig, humanDuration } from '../config/human.ts';
import { classNames, type Config } from '../config/schema.ts';
import { isSelected } from '../config/selection.ts';
import { loadWrittenConfig, writtenConfigIn } from '../config/written-config.ts';
import { ApiError, ifForbidden, type KubeObject, type Reader, Unreachable } from '../kube/api.ts';
import { createApi } from '../kube/client.ts';
import { loadKubeConfig } from '../kube/kubeconfig.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { isLiteral } from '../lib/glob.ts';
import { counted } from '../lib/text.ts';
import { classOf } from '../signals/classes.ts';

export interface CheckConfigOptions {
  /** `-` is standard input. */
  file: string;
  /** Asks this cluster which namespaces match. */
  context?: string;
}

/** Prints the effective configuration; a bad file throws the UserError that lists all its problems. */
export async function runCheckConfig(
  { file, context }: CheckConfigOptions,
  io: { print(text: string): void },
  input: AsyncIterable<Uint8Array> = process.stdin,
): Promise<number> {
  const isPiped = file === standardInput.argument;
  const name = isPiped ? standardInput.name : file;
  const config = isPiped ? writtenConfigIn(await readInput(input), name) : await loadWrittenConfig(file);
  const inForce = { ...humanConfig(config), classes: classesInForce(config) };
  const effective = withFloors(new Document(inForce, { aliasDuplicateObjects: false }), config).toString({
    lineWidth: 0,
  });
  const matching = context === undefined ? [] : await matchingIn(context, config);
  io.print(
    ['ok', '', `# ${name} with every default filled in:`, effective.trimEnd(), ...warnings(config), ...matching].join(
      '\n',
    ),
  );
  return 0;
}

/** As comments, because the rest of the output is YAML. */
function warnings(config: Config): string[] {
  const lines = exampleIdsIn(config).map(
    ({ where, id }) => `# warning: ${where}: ${id} is the id of the example, and nobody's of yours: put your own there`,
  );
  return lines.length > 0 ? ['', ...lines] : [];
}

/** The settings of every class, including your own: the file need not name any. */
function classesInForce(config: Config): object {
  const names = new Set([...classNames, ...config.extraReasons.map((extra) => extra.class)]);
  const rules = [...names].map((name) => {
    const { forMs, severity, isSeverityFixed } = classOf(name, config);
    const own = Object.hasOwn(config.classes, name) ? config.classes[name] : undefined;
    return [name, { enabled: own?.enabled ?? true, for: humanDuration(forMs), ...(isSeverityFixed && { severity }) }];
  });
  return Object.fromEntries(rules);
}

/**
 * A severity that nobody chose is only the least that a failure of the class has. It is printed as a comment: as a
 * setting it would be what a failure always has, however great its impact.
 */
function withFloors(effective: Document, config: Config): Document {
  for (const name of Object.keys(classesInForce(config))) {
    const { severity, isSeverityFixed } = classOf(name, config);
    const patience = effective.getIn(['classes', name, 'for'], true);
    if (isScalar(patience) && !isSeverityFixed) patience.comment = ` at least ${severity}`;
  }
  return effective;
}

async function matchingIn(context: string, config: Config): Promise<string[]> {
  const api = createApi({ kubeConfig: loadKubeConfig({ context }) });
  try {
    return ['', ...(await namespacesNow(api, config, process.env['POD_NAMESPACE'] || 'tapfix'))];
  } catch (error) {
    throw error instanceof ApiError || error instanceof Unreachable ? new UserError(messageOf(error), 1, error) : error;
  } finally {
    await api.close();
  }
}

/** The namespaces that this configuration matches now, as comments, because the rest of the output is YAML. */
export async function namespacesNow(reader: Pick<Reader, 'list'>, config: Config, own: string): Promise<string[]> {
  const { include } = config.namespaces;
  const all = await reader.list<KubeObject>('Namespace').catch(ifForbidden(undefined));
  if (!all) return ['# which namespaces match now is not known: you may not list namespaces'];
  const names = all.map(({ metadata }) => metadata.name).sort();
  const matching = names.filter((name) => isSelected(config, name, own));
  const isMissing = (pattern: string): boolean => isLiteral(pattern) && !names.includes(pattern);
  return [
    `# ${counted(matching.length, 'namespace')} of ${names.length} match now:`,
    ...matching.map((name) => `#   ${name}`),
    ...include.filter(isMissing).map((name) => `# there is no namespace ${name} (yet)`),
  ];
}
