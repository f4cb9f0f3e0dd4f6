import { readFile } from 'node:fs/promises';
import { messageOf, UserError } from '../lib/errors.ts';

export type TokenName = 'TELEGRAM_BOT_TOKEN' | 'SLACK_BOT_TOKEN' | 'SLACK_APP_TOKEN';

/** From the file that `..._FILE` names, else from the variable itself; undefined when neither is set. */
export async function readToken(
  name: TokenName,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const file = env[`${name}_FILE`]?.trim();
  const fromFile = file ? await readTokenFile(`${name}_FILE`, file) : undefined;
  const token = fromFile || env[name]?.trim();
  if (file && !token) throw new UserError(`${name}_FILE names ${file}, which does not exist (yet) or is empty`, 2);
  return token || undefined;
}

async function readTokenFile(variable: string, file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    // An optional Secret that is not there yet leaves an empty directory.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw new UserError(`${variable} names a file that cannot be read: ${messageOf(error)}`, 2);
  }
}
