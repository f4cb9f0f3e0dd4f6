import { sealed } from '../approvals/sealed-channel.ts';
import type { Answer, Channel, ChannelName, Handlers, Press } from '../channels/channel.ts';
import type { Channels } from '../channels/channels.ts';
import type { Clock } from '../lib/clock.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Readiness } from '../ops/readiness.ts';
import { stopped } from './stop.ts';

interface ChannelRegistryDeps {
  clock: Clock;
  metrics: Pick<Metrics, 'channelUp'>;
  readiness: Readiness;
  /** The ids of this installation, the best first. */
  installation: readonly string[];
  /** A button of another installation was pressed. */
  onForeign(press: Press): Answer;
  signal: AbortSignal;
}

/** The channels that we talk on; they come and go with the configuration. */
interface ChannelRegistry {
  channels(): Channels;
  /** Once `listed` has resolved, the handlers get what people press and write. Call this before `use`. */
  start(handlers: Handlers, listed: Promise<unknown>): void;
  use(channels: Channels): void;
  /** Resolves when all have ended. */
  ended(): Promise<void>;
}

/** So long what is still to be edited on a channel that was left can be: that nothing there can be pressed any more. */
const farewellMs = 60_000;

export function createChannelRegistry(deps: ChannelRegistryDeps): ChannelRegistry {
  const { clock, metrics, readiness, onForeign, signal } = deps;
  const [first, ...others] = deps.installation;
  const known = new Map<ChannelName, Channel>();
  const sealedOnes = new WeakMap<Channel, Channel>();
  const stops = new Map<Channel, AbortController>();
  const loops = new Set<Promise<void>>();
  let receiving: { handlers: Handlers; listed: Promise<unknown> } | undefined;

  async function run(channel: Channel, ending: AbortSignal): Promise<void> {
    await Promise.race([receiving?.listed, stopped(ending)]);
    if (receiving && !ending.aborted) await channel.run(receiving.handlers, ending);
  }

  /** Nobody shares a terminal. */
  function withSeal(channel: Channel): Channel {
    if (first === undefined || channel.name === 'console') return channel;
    const own = sealedOnes.get(channel) ?? sealed(channel, { own: [first, ...others], onForeign });
    sealedOnes.set(channel, own);
    return own;
  }

  function begin(channel: Channel): void {
    const stop = new AbortController();
    const own = withSeal(channel);
    known.set(channel.name, own);
    stops.set(channel, stop);
    metrics.channelUp(channel.name, () => channel.health().ok);
    readiness.set(`channel-${channel.name}`, () => ({ ...channel.health(), required: false }));
    const loop = run(own, AbortSignal.any([signal, stop.signal])).finally(() => loops.delete(loop));
    loops.add(loop);
  }

  function end(channel: Channel): void {
    stops.get(channel)?.abort();
    stops.delete(channel);
    metrics.channelUp(channel.name, undefined);
    readiness.set(`channel-${channel.name}`, undefined);
    void clock.sleep(farewellMs, signal).then(() => {
      if (known.get(channel.name) === withSeal(channel) && !stops.has(channel)) known.delete(channel.name);
    });
  }

  return {
    channels: () => known,
    start: (handlers, listed) => void (receiving = { handlers, listed }),
    use(channels) {
      for (const channel of stops.keys()) if (channels.get(channel.name) !== channel) end(channel);
      for (const channel of channels.values()) if (!stops.has(channel)) begin(channel);
    },
    ended: async () => void (await Promise.all(loops)),
  };
}
