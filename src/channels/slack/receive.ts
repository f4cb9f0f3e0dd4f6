import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { ChannelHealth } from '../channel.ts';
import type { Endpoint } from './client.ts';
import type { Trouble } from './errors.ts';
import { SlackTrouble, troubleOf } from './errors.ts';
import type { Envelope } from './socket.ts';
import { holdSocket } from './socket.ts';

export interface ReceiverDeps {
  appToken: () => Promise<string>;
  endpoint: Endpoint;
  clock: Clock;
  log: Log;
  onEnvelope(envelope: Envelope): void;
}

export interface Receiver {
  run(signal: AbortSignal): Promise<void>;
  health(): ChannelHealth;
}

/** Slack renews each socket every few hours, and meanwhile it is deaf: what is pressed then arrives on the other one. */
const sockets = 2;
/** The second is renewed once early, so that Slack does not renew both at the same time. */
const staggerMs = 600_000;
/** One that ends sooner was not a socket but a failure. */
const shortestLifeMs = 5_000;
const firstBackOffMs = 1_000;
const longestBackOffMs = 30_000;

/** Receives until the signal aborts, whatever happens to Slack, its sockets or the token. */
export function createReceiver({ appToken, endpoint, clock, log, onEnvelope }: ReceiverDeps): Receiver {
  let open = 0;
  let trouble: Trouble | undefined;
  let isSaid = false;

  async function keepOpen(index: number, signal: AbortSignal): Promise<void> {
    let failures = 0;
    for (let lives = 0; !signal.aborted; lives++) {
      try {
        await live(index > 0 && lives === 0 ? staggerMs : undefined, signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) break;
        const found = troubleOf(error, 'app');
        fails(found);
        await clock.sleep(backOffMs(found, failures++), signal);
      }
    }
  }

  /** One socket until it ends: by itself, with us, or early because it is to be renewed. */
  async function live(renewAfterMs: number | undefined, signal: AbortSignal): Promise<void> {
    const renew = new AbortController();
    const over = new AbortController();
    const after = (ms: number, action: () => void): void =>
      void clock.sleep(ms, over.signal).then(() => over.signal.aborted || action());
    let openedAtMs: number | undefined;
    const onOpen = (): void => {
      openedAtMs = clock.now();
      open += 1;
      after(shortestLifeMs, works);
      if (renewAfterMs !== undefined) after(renewAfterMs, () => renew.abort());
    };
    const either = AbortSignal.any([signal, renew.signal]);
    try {
      const farewell = await holdSocket({ appToken: await appToken(), endpoint, clock, onOpen, onEnvelope }, either);
      if (clock.now() - (openedAtMs ?? 0) < shortestLifeMs) throw new SlackTrouble(cutShort(farewell));
    } catch (error) {
      if (!renew.signal.aborted) throw error;
    } finally {
      over.abort();
      if (openedAtMs !== undefined) open -= 1;
    }
  }

  function works(): void {
    if (isSaid) log.info({ was: trouble?.kind }, 'slack works again');
    isSaid = false;
    trouble = undefined;
  }

  /** One line when the trouble changes, not one per attempt; none while the other socket still hears. */
  function fails(found: Trouble): void {
    if (open === 0 && (!isSaid || trouble?.kind !== found.kind)) {
      isSaid = true;
      log.warn({ kind: found.kind, reason: found.say }, 'slack does not work');
    }
    trouble = found;
  }

  return {
    async run(signal) {
      await Promise.all(Array.from({ length: sockets }, (_, index) => keepOpen(index, signal)));
    },
    health() {
      if (open === 0) return { ok: false, detail: trouble?.say ?? 'connecting' };
      return { ok: true, detail: open === sockets ? 'receiving' : `receiving over ${open} of ${sockets} sockets` };
    },
  };
}

const cutShort = (farewell: string): Trouble => ({
  kind: 'Disconnected',
  say: `Slack ends its sockets as soon as they are open (${farewell})`,
});

const backOffMs = (trouble: Trouble, failures: number): number =>
  trouble.kind === 'TooFast' || trouble.kind === 'NoToken'
    ? (trouble.retryMs ?? longestBackOffMs)
    : Math.min(firstBackOffMs * 2 ** failures, longestBackOffMs);
