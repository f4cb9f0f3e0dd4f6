import type { Channel, Turn } from '../../src/channels/channel.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { ApiServer } from '../../src/sim/api/api-server.ts';
import type { Blow } from './plan.ts';

const never = new Promise<never>(() => undefined);

type Moment = Blow['moment'];

/** Everything that a process awaits from outside passes its gate: there it can die, or be stopped for a while. */
export interface Gate {
  /** Whether it was held up by a pause that began before: a running process would have looked around again. */
  pass(moment: Moment): Promise<boolean>;
  /** From now on nothing that it does arrives, and no answer comes. */
  die(): void;
  /** Something happens to it at the n-th such moment. */
  strikeAt(moment: Moment, n: number, onStrike: () => void): void;
  /** Nothing that it does arrives, and it hears no answer, until it is resumed. What has left it may still arrive. */
  pause(): void;
  resume(): void;
  isDead(): boolean;
  isPaused(): boolean;
}

export function createGate(): Gate {
  let dead = false;
  let paused: PromiseWithResolvers<void> | undefined;
  let doom: { moment: Moment; left: number; onStrike(): void } | undefined;

  function strikes(moment: Moment): boolean {
    if (dead || paused || !doom || (doom.moment !== 'any' && doom.moment !== moment)) return false;
    doom.left -= 1;
    if (doom.left > 0) return false;
    const { onStrike } = doom;
    doom = undefined;
    onStrike();
    return true;
  }

  function resume(): void {
    paused?.resolve();
    paused = undefined;
  }

  return {
    async pass(moment) {
      const isStruck = strikes(moment);
      const waits = paused !== undefined;
      for (let hold = paused; hold; hold = paused) await hold.promise;
      if (dead) await never;
      return waits && !isStruck;
    },
    die() {
      dead = true;
      resume();
    },
    strikeAt: (moment, n, onStrike) => void (doom = { moment, left: n, onStrike }),
    pause: () => void (paused ??= Promise.withResolvers()),
    resume,
    isDead: () => dead,
    isPaused: () => paused !== undefined,
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

/**
 * The way to the API server of one process. `mustLead`: a write that has passed its check when the pause began is sent
 * afterwards; any other one is checked by a process that is awake.
 */
export function gatedServer(
  server: Pick<ApiServer, 'handle'>,
  gate: Gate,
  mustLead: () => void = () => undefined,
): Pick<ApiServer, 'handle'> {
  async function* gated(lines: AsyncIterable<object>): AsyncGenerator<object> {
    try {
      for await (const line of lines) {
        await gate.pass('any');
        yield line;
      }
    } catch (error) {
      await gate.pass('any');
      throw error;
    }
    await gate.pass('any');
  }
  return {
    async handle(request) {
      const moment = request.method === 'GET' ? 'any' : 'write';
      if ((await gate.pass(moment)) && moment === 'write') mustLead();
      const answer = await server.handle(request).catch(async (error: unknown) => {
        await gate.pass(moment);
        throw error;
      });
      await gate.pass(moment);
      return answer.lines ? { ...answer, lines: gated(answer.lines) } : answer;
    },
  };
}

/** The way to the chat vendor of one process, and from there to it. */
export function gatedChannel(channel: Channel, gate: Gate): Channel {
  async function through<T>(call: () => Promise<T>, moment: Moment, turn?: Turn): Promise<T> {
    if (await gate.pass(moment)) turn?.check?.();
    try {
      return await call();
    } finally {
      await gate.pass(moment);
    }
  }
  return {
    ...channel,
    post: (...args) => through(() => channel.post(...args), 'post', args[3]),
    edit: (...args) => through(() => channel.edit(...args), 'post', args[3]),
    run: ({ onPress, onCommand, commands }, signal) =>
      channel.run(
        {
          onPress: (press) => through(() => onPress(press), 'any'),
          onCommand: (command) => through(() => onCommand(command), 'any'),
          commands,
        },
        signal,
      ),
  };
}
