import { Agent, request } from 'undici';
import packageJson from '../../package.json' with { type: 'json' };
import { type Clock, inTime } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';

const connectMs = 5_000;

/**
 * One GET without a body. Anything but a 2xx is a failure: a server that redirects has something else at this address.
 */
export async function ping(url: string, signal: AbortSignal): Promise<void> {
  const agent = new Agent({ allowH2: false, connect: { timeout: connectMs }, keepAliveTimeout: 1 });
  try {
    const { statusCode, body } = await request(url, {
      method: 'GET',
      headers: { 'user-agent': `tapfix/${packageJson.version}`, accept: '*/*' },
      dispatcher: agent,
      signal,
    });
    await body.dump({ limit: 65_536, signal });
    if (statusCode < 200 || statusCode > 299) throw new Error(`answered with HTTP ${statusCode}`);
  } finally {
    await agent.destroy();
  }
}

export type Beat = 'sent' | 'failed' | 'withheld';

interface HeartbeatDeps {
  clock: Clock;
  log: Log;
  /** Read again and again, so that a reload takes effect at once. Without a url there is no heartbeat. */
  settings(): { url: string; every: number };
  /**
   * True if there is nothing that a person should look at. A process that cannot see must not report that all is well.
   */
  isWell(): boolean;
  /** One GET; throws unless the answer is a success. */
  ping(url: string, signal: AbortSignal): Promise<void>;
  count(result: Beat): void;
}

/** After a failure the next try comes sooner, so that one lost packet does not wake anybody. */
const soonestMs = 10_000;
/** Nothing waits for a ping, but two must not run at the same time. */
const longestMs = 10_000;
/**
 * How soon a changed configuration is used: a pause may last a day, and the new watchdog would raise an alarm before
 * that.
 */
const lookMs = 10_000;

/**
 * Pings an external watchdog while all is well, because a dead process cannot report itself. Resolves when the signal
 * aborts.
 */
export async function runHeartbeat(deps: HeartbeatDeps, signal: AbortSignal): Promise<void> {
  const { clock, log, settings, isWell, count } = deps;
  let isFailing = false;

  async function beat(url: string): Promise<Beat> {
    if (!isWell()) return 'withheld';
    try {
      await pingInTime(deps, url, signal);
    } catch (error) {
      if (signal.aborted) return 'withheld';
      // The path is not logged, because it may be the only secret that protects the URL.
      if (!isFailing) log.warn({ to: hostOf(url), reason: withoutUrl(messageOf(error), url) }, 'heartbeat not sent');
      isFailing = true;
      return 'failed';
    }
    if (isFailing) log.info({ to: hostOf(url) }, 'heartbeat is sent again');
    isFailing = false;
    return 'sent';
  }

  /**
   * Sleeps in short steps, because the settings may change. It counts the time slept, so a change of the clock does not
   * matter.
   */
  async function rest(url: string, result: Beat | undefined): Promise<void> {
    let restedMs = 0;
    for (let now = settings(); !signal.aborted && now.url === url; now = settings()) {
      const leftMs = pauseAfter(result, now.every) - restedMs;
      if (leftMs <= 0) return;
      const stepMs = Math.min(leftMs, lookMs);
      await clock.sleep(stepMs, signal);
      restedMs += stepMs;
    }
  }

  while (!signal.aborted) {
    const { url } = settings();
    const result = url ? await beat(url) : undefined;
    if (result && !signal.aborted) count(result);
    await rest(url, result);
  }
}

/** Without a url nothing is due until there is one. */
const pauseAfter = (result: Beat | undefined, every: number): number =>
  result === undefined ? Infinity : result === 'sent' ? every : Math.min(every, soonestMs);

async function pingInTime({ clock, ping }: HeartbeatDeps, url: string, signal: AbortSignal): Promise<void> {
  const result = await inTime({ clock, ms: longestMs, late: 'late' }, (isLate) =>
    ping(url, AbortSignal.any([signal, isLate])),
  );
  if (result === 'late') throw new Error(`no answer within ${longestMs / 1000} s`);
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? '';

const withoutUrl = (text: string, url: string): string => {
  const { pathname = '', search = '' } = URL.parse(url) ?? {};
  return [url, pathname, search]
    .filter((secret) => secret.length > 1)
    .reduce((said, secret) => said.replaceAll(secret, '...'), text);
};
