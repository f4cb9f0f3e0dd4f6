import type { Reloads } from '../app/app.ts';
import { type Channels, rebuildChannels } from '../channels/channels.ts';
import { isReadOnce, whyFrozen } from '../config/config-file.ts';
import { createLiveConfig } from '../config/live-config.ts';
import { createReloader } from '../config/reload.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Readiness } from '../ops/readiness.ts';

export interface FollowDeps {
  file: string;
  text: string;
  config: Config;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'configInfo' | 'configTrouble' | 'configReloads'>;
  readiness: Readiness;
}

export interface Follow {
  current(): Config;
  /** Follows changes of the file, and SIGHUP, from now on until the signal aborts. */
  start(deps: StartDeps): Reloads;
}

interface StartDeps {
  channels: Channels;
  makeChannels(config: Config): Promise<Channels>;
  signal: AbortSignal;
}

/** The configuration of a running process: the current one, whether it can change, and what prevents a change. */
export async function followConfig({
  file,
  text,
  clock,
  log,
  metrics,
  readiness,
  ...deps
}: FollowDeps): Promise<Follow> {
  const frozen = await whyFrozen(file);
  const canChange = !(await isReadOnce(file));
  let look = (): void => undefined;
  process.on('SIGHUP', () => look()); // set at once: without a listener SIGHUP ends the process
  const listeners: Parameters<Reloads['subscribe']>[0][] = [];
  let build: (config: Config) => Promise<Channels> = async () => new Map();
  const live = createLiveConfig<Channels>({
    file,
    clock,
    log,
    config: deps.config,
    build: (config) => build(config),
    onResult: (result) => metrics.configReloads.inc({ result }),
    onSwap({ built, ...change }) {
      metrics.configInfo(live.hash());
      for (const listener of listeners) listener({ ...change, channels: built });
    },
  });
  metrics.configInfo(live.hash());
  metrics.configTrouble('refused', () => live.refusal() !== undefined);
  metrics.configTrouble('frozen', () => frozen !== undefined);
  readiness.set('config', () => ({ ...stateOf(live.hash(), live.refusal()?.problem, frozen), required: false }));
  if (frozen) log.warn({ reason: frozen }, 'the configuration cannot be reloaded');

  return {
    current: live.current,
    start({ channels, makeChannels, signal }) {
      let running = channels;
      build = async (config) => (running = await rebuildChannels(running, live.current(), config, makeChannels));
      const reloader = createReloader({
        file,
        text,
        clock,
        onText: live.take,
        onRefused: live.refuse,
        onAsBefore: live.asBefore,
      });
      look = reloader.poke;
      if (canChange) void reloader.run(signal);
      return { subscribe: (listener) => void listeners.push(listener), refusal: live.refusal };
    },
  };
}

/** For /readyz: which configuration is current, and what prevents the next one. */
function stateOf(hash: string, problem: string | undefined, frozen: string | undefined) {
  const inForce = `in force: ${hash}`;
  if (problem) return { ok: false, detail: `${inForce}; the change in the file is refused: ${problem}` };
  return frozen ? { ok: false, detail: `${inForce}; ${frozen}` } : { ok: true, detail: inForce };
}
