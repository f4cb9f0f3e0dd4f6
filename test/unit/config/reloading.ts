import { readFileSync } from 'node:fs';
import { setTimeout as realSleep } from 'node:timers/promises';
import { readAgain } from '../../../src/config/config-file.ts';
import { createLiveConfig } from '../../../src/config/live-config.ts';
import { configIn } from '../../../src/config/load.ts';
import { createReloader, type WatchDirectory } from '../../../src/config/reload.ts';
import { fakeClock } from '../../support/fake-clock.ts';

export const goodText = (cluster: string): string =>
  `cluster: ${cluster}\nnamespaces: {include: [shop]}\nchannels: {console: {}}\n`;

/** A configuration that follows its file: real files, virtual time. */
export function reloading(file: string, watch?: WatchDirectory) {
  const text = readFileSync(file, 'utf8');
  const stop = new AbortController();
  const clock = fakeClock();
  const lines: string[] = [];
  const say = (_fields: object, message: string): void => void lines.push(message);
  let reads = 0;
  let reading = 0;
  const live = createLiveConfig({
    file,
    config: configIn(text, file),
    clock,
    log: { debug: say, info: say, warn: say, error: say },
    build: async () => undefined,
  });
  const reloader = createReloader({
    file,
    text,
    clock,
    async read(path) {
      reads += 1;
      reading += 1;
      return readAgain(path).finally(() => (reading -= 1));
    },
    onText: live.take,
    onRefused: live.refuse,
    onAsBefore: live.asBefore,
    ...(watch && { watch }),
  });
  const ended = reloader.run(stop.signal);
  const isReading = (): boolean => reading > 0;
  const settled = async (): Promise<void> => {
    do await realSleep(2);
    while (isReading());
  };
  return {
    live,
    lines,
    poke: reloader.poke,
    reads: () => reads,
    settled,
    async pass(ms: number): Promise<void> {
      for (let left = ms; left > 0; left -= 250) {
        await settled();
        await clock.advance(250);
        await settled();
      }
    },
    async end(): Promise<void> {
      stop.abort();
      await ended;
    },
  };
}
