import { sealed } from '../approvals/sealed-channel.ts';
import type { Answer, Channel, ChannelName, Handlers, Press } from '../channels/channel.ts';
import type { Channels } from '../channels/channels.ts';
import type { Term } from '../kube/lease.ts';
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
  /** Only the leader talks: what it no longer may send is not sent. */
  term: Pick<Term, 'signal' | 'mustLead'>;
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
  const { clock, metrics, readiness, onForeign } = deps;
  const { signal, mustLead } = deps.term;
  const [first, ...others] = deps.installation;
  const known = new Map<ChannelName, Channel>();
  const ownForms = new WeakMap<Channel, Channel>();
  const stops = new Map<Channel, AbortController>();
  const loops = new Set<Promise<void>>();
  let receiving: { handlers: Handlers; listed: Promise<unknown> } | undefined;

  async function run(channel: Channel, ending: AbortSignal): Promise<void> {
    await Promise.race([receiving?.listed, stopped(ending)]);
    if (receiving && !ending.aborted) await channel.run(receiving.handlers, ending);
  }

  function ownFormOf(channel: Channel): Channel {
    const own = ownForms.get(channel) ?? withSeal(onlyWhileLeading(channel, mustLead));
    ownForms.set(channel, own);
    return own;
  }

  /** Nobody shares a terminal. */
  const withSeal = (channel: Channel): Channel =>
    first === undefined || channel.name === 'console'
      ? channel
      : sealed(channel, { own: [first, ...others], onForeign });

  function begin(channel: Channel): void {
    const stop = new AbortController();
    const own = ownFormOf(channel);
    known.set(channel.name, own);
    stops.set(channel, stop);
    metrics.channelUp(channel.name, () => channel.health().ok);
    readiness.set(`channel-${channel.name}`, () => ({ ...channel.health(), required: false }));
    const loop = run(own, AbortSignal.any([signal, stop.signal])).finally(() => loops.delete(loop));
    loops.add(loop);
  }

  function hide({ name }: Channel): void {
    metrics.channelUp(name, undefined);
    readiness.set(`channel-${name}`, undefined);
  }

  function end(channel: Channel): void {
    stops.get(channel)?.abort();
    stops.delete(channel);
    hide(channel);
    void clock.sleep(farewellMs, signal).then(() => {
      if (known.get(channel.name) === ownFormOf(channel) && !stops.has(channel)) known.delete(channel.name);
    });
  }

  return {
    channels: () => known,
    start: (handlers, listed) => void (receiving = { handlers, listed }),
    use(channels) {
      for (const channel of stops.keys()) if (channels.get(channel.name) !== channel) end(channel);
      for (const channel of channels.values()) if (!stops.has(channel)) begin(channel);
    },
    async ended() {
      await Promise.all(loops);
      for (const channel of stops.keys()) hide(channel);
    },
  };
}

/**
 * A leader that was paused must not post what another one posts. The check is made at once, and by channels that let a
 * message wait once more immediately before it is sent.
 */
const onlyWhileLeading = (channel: Channel, mustLead: () => void): Channel => ({
  ...channel,
  async post(place, message, replyTo, turn) {
    mustLead();
    return channel.post(place, message, replyTo, { ...turn, check: mustLead });
  },
  async edit(place, id, message, turn) {
    mustLead();
    return channel.edit(place, id, message, { ...turn, check: mustLead });
  },
});
