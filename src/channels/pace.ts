import Bottleneck from 'bottleneck';
import type { Channel } from './channel.ts';

export interface Pace {
  minTimeMs: number;
  maxConcurrent: number;
}

/** The same channel with its vendor calls spread out. It only delays: the limits of section "Telling" are the outbox's. */
export function paced(channel: Channel, { minTimeMs, maxConcurrent }: Pace): Channel {
  const limiter = new Bottleneck({ minTime: minTimeMs, maxConcurrent });
  return {
    ...channel,
    post: (place, message, replyTo) => limiter.schedule(() => channel.post(place, message, replyTo)),
    edit: (place, id, message) => limiter.schedule(() => channel.edit(place, id, message)),
  };
}
