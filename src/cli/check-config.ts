import { stringify } from 'yaml';
import { humanConfig } from '../config/human.ts';
import { loadConfig } from '../config/load.ts';

/** Prints what tapfix would run with; a bad file throws the UserError that lists all its problems. */
export async function runCheckConfig(file: string, io: { print(text: string): void }): Promise<number> {
  const config = await loadConfig(file);
  const effective = stringify(humanConfig(config), { lineWidth: 0, aliasDuplicateObjects: false });
  io.print(`ok\n\n# ${file} with every default filled in:\n${effective.trimEnd()}`);
  return 0;
}
