import type { Answer, Channel, ChannelName, Interaction, Press } from '../channels/channel.ts';
import type { Clock } from '../lib/clock.ts';
import type { SharedBot } from '../notices/plan/blindness.ts';
import { refuse } from './rules.ts';
import type { VerbResult } from './verbs.ts';

interface ForeignPressesDeps {
  clock: Clock;
  channels(): ReadonlyMap<ChannelName, Pick<Channel, 'sharedSinceMs'>>;
  /** Writes one audit line; returns the answer. */
  audit(interaction: Interaction, said: VerbResult): Answer;
}

interface ForeignPresses {
  onPress(press: Press): Answer;
  /** Every sign that somebody else uses one of our bots. */
  signs(): SharedBot[];
}

const notOurs = refuse(
  'OtherInstallation',
  'This card belongs to another tapfix installation that shares this bot; nothing was done.',
);

/** One may be a button that was posted before a cluster was made anew. */
const enough = 3;
const rememberedMs = 86_400_000;

/** Presses on buttons of other installations: they are answered, and counted because they should not come here. */
export function createForeignPresses({ clock, channels, audit }: ForeignPressesDeps): ForeignPresses {
  const seen = new Map<ChannelName, { times: number; lastMs: number; sinceMs?: number }>();

  function recentIn(channel: ChannelName): { times: number; sinceMs?: number } {
    const known = seen.get(channel);
    return known && Math.abs(clock.now() - known.lastMs) < rememberedMs ? known : { times: 0 };
  }

  return {
    onPress(press) {
      const nowMs = clock.now();
      const { times, sinceMs } = recentIn(press.channel);
      const since = sinceMs ?? (times + 1 >= enough ? nowMs : undefined);
      seen.set(press.channel, { times: times + 1, lastMs: nowMs, ...(since !== undefined && { sinceMs: since }) });
      return audit(press, notOurs);
    },
    signs: () =>
      (['telegram', 'slack'] as const).flatMap((channel): SharedBot[] => {
        const pressed = recentIn(channel).sinceMs;
        const connected = channels().get(channel)?.sharedSinceMs?.();
        return [
          ...(pressed === undefined ? [] : [{ channel, sign: 'press', sinceMs: pressed } as const]),
          ...(connected === undefined ? [] : [{ channel, sign: 'connection', sinceMs: connected } as const]),
        ];
      }),
  };
}
