import type { Channel } from '../../src/channels/channel.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { ApiServer } from '../../src/sim/api/api-server.ts';
import type { Blow } from './plan.ts';

const never = new Promise<never>(() => undefined);

/** Everything that a process awaits from outside passes its gate: there it can die, or be stopped for a while. */
export interface Gate {
  pass(moment: Blow['moment']): Promise<void>;
  /** From now on nothing that it does arrives, and no answer comes. */
  die(): void;
  /** It dies by itself at the n-th such moment. */
  dieAt(moment: Blow['moment'], n: number, onDeath: () => void): void;
  pause(): void;
  resume(): void;
  isDead(): boolean;
}

export function createGate(): Gate {
  let dead = false;
  let paused: PromiseWithResolvers<void> | undefined;
  let doom: { moment: Blow['moment']; left: number; onDeath(): void } | undefined;

  function strike(moment: Blow['moment']): void {
    if (!doom || (doom.moment !== 'any' && doom.moment !== moment)) return;
    doom.left -= 1;
    if (doom.left > 0) return;
    const { onDeath } = doom;
    doom = undefined;
    dead = true;
    onDeath();
  }

  return {
    async pass(moment) {
      if (!dead) strike(moment);
      await paused?.promise;
      if (dead) await never;
    },
    die: () => void ((dead = true), paused?.resolve()),
    dieAt: (moment, n, onDeath) => void (doom = { moment, left: n, onDeath }),
    pause: () => void (paused ??= Promise.withResolvers()),
    resume() {
      paused?.resolve();
      paused = undefined;
    },
    isDead: () => dead,
  };
}

/** The clock of one process; it knows how many of its sleepers are still asleep. */
export function gatedClock(clock: Clock, gate: Gate): Clock & { asleep(): number } {
  let asleep = 0;
  return {
    now: () => clock.now(),
    asleep: () => asleep,
    async sleep(ms, signal) {
      asleep += 1;
      await clock.sleep(ms, signal);
      asleep -= 1;
      await gate.pass('any');
    },
  };
}

/** The way to the API server of one process. */
export function gatedServer(server: Pick<ApiServer, 'handle'>, gate: Gate): Pick<ApiServer, 'handle'> {
  async function* gated(lines: AsyncIterable<object>): AsyncGenerator<object> {
    for await (const line of lines) {
      await gate.pass('any');
      yield line;
    }
  }
  return {
    async handle(request) {
      const moment = request.method === 'GET' ? 'any' : 'write';
      await gate.pass(moment);
      const answer = await server.handle(request).catch(async (error: unknown) => {
        await gate.pass(moment);
        throw error;
      });
      await gate.pass(moment);
      return answer.lines ? { ...answer, lines: gated(answer.lines) } : answer;
    },
  };
}

export function gatedChannel(channel: Channel, gate: Gate): Channel {
  async function through<T>(call: () => Promise<T>, moment: Blow['moment']): Promise<T> {
    await gate.pass(moment);
    try {
      return await call();
    } finally {
      await gate.pass(moment);
    }
  }
  return {
    ...channel,
    post: (...args) => through(() => channel.post(...args), 'post'),
    edit: (...args) => through(() => channel.edit(...args), 'post'),
  };
}
