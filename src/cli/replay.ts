import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { standardInput } from '../config/config-file.ts';
import { defaultConfig } from '../config/load.ts';
import { loadWrittenConfig } from '../config/written-config.ts';
import { localTimeZone } from '../lib/duration.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { readObjects, recordingOf } from '../replay/recording.ts';
import { replay } from '../replay/run-replay.ts';
import { replayed } from '../replay/transcript.ts';

export interface ReplayOptions {
  /** `-` is standard input. */
  file: string;
  /** Without it every namespace, and the default of every setting. */
  configFile?: string;
}

/** `tapfix replay`: what would have been posted about recorded Events, and why the rest would not. Offline. */
export async function runReplay(
  { file, configFile }: ReplayOptions,
  io: { print(text: string): void },
  input: NodeJS.ReadableStream = process.stdin,
): Promise<number> {
  const config = configFile === undefined ? defaultConfig() : await loadWrittenConfig(configFile);
  const isPiped = file === standardInput.argument;
  const { records, unreadable } = readObjects(await (isPiped ? text(input) : read(file)));
  const recording = recordingOf(records);
  const all = [...unreadable, ...recording.unreadable];
  const result = replay({ ...recording, unreadable: all }, config, process.env['POD_NAMESPACE'] || 'tapfix');
  io.print(
    replayed(result, {
      file: isPiped ? standardInput.name : file,
      config,
      timeZone: localTimeZone(),
      unreadable: all,
    }).join('\n'),
  );
  return 0;
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const why: Record<string, string> = {
      ENOENT: 'does not exist',
      ENOTDIR: 'does not exist',
      EISDIR: 'is a directory: name the file in it',
      EACCES: 'may not be read by this user',
      ERR_FS_FILE_TOO_LARGE: 'is too large: cut it into pieces',
      ERR_STRING_TOO_LONG: 'is too large: cut it into pieces',
    };
    const code = (error as NodeJS.ErrnoException).code ?? '';
    throw new UserError(`${file || '""'} ${why[code] ?? `cannot be read: ${messageOf(error)}`}`, 2);
  }
}
