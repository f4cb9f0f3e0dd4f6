import { createReadStream } from 'node:fs';
import { messageOf, UserError } from '../lib/errors.ts';

const maxBytes = 1024 * 1024;

/** A text file of a size that a person writes; anything else is one clear line. */
export async function readText(file: string): Promise<string> {
  const bytes = await readAtMost(file, maxBytes + 1);
  if (bytes.length > maxBytes) throw new UserError(`${file} is larger than 1 MB: is it the right file?`, 2);
  if (bytes.includes(0)) throw new UserError(`${file} is not a text file: it contains a NUL byte`, 2);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new UserError(`${file} is not a text file in UTF-8`, 2, error);
  }
}

/** A device or pipe may never end, so the size is limited while reading. */
async function readAtMost(file: string, limit: number): Promise<Buffer> {
  try {
    const chunks: Buffer[] = await createReadStream(file, { end: limit - 1 }).toArray();
    return Buffer.concat(chunks);
  } catch (error) {
    const message = whyUnreadable(file, error);
    throw isMissing(error) ? new MissingFile(message, 2) : new UserError(message, 2);
  }
}

/** It is not there: perhaps not yet, perhaps not at this moment. */
export class MissingFile extends UserError {}

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

function whyUnreadable(file: string, error: unknown): string {
  const why: Record<string, string> = {
    ENOENT: 'does not exist',
    ENOTDIR: 'does not exist',
    EISDIR: 'is a directory: name the file in it',
    EACCES: 'may not be read by this user',
  };
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return `${file || '""'} ${why[code] ?? `cannot be read: ${messageOf(error)}`}`;
}
