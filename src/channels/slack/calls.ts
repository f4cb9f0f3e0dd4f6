import { type Clock, untilAborted } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { NotSent } from '../channel.ts';
import { asOutboxError, tokenRetryMs, type SlackProblem, troubleIn, troubleOf } from './failures.ts';
import { createWebClient, type Endpoint, type WebClient } from './slack-client.ts';

export interface CallsDeps {
  /** Read again for every call, so that a rotated token is used at once. */
  botToken: () => Promise<string>;
  /** The channels in the current configuration. */
  own: () => readonly string[];
  endpoint: Endpoint;
  log: Log;
  clock: Clock;
}

/** Calls to Slack's Web API, and whether they work. */
export interface Calls {
  web(): Promise<WebClient>;
  /** The workspace of the bot token. Throws if Slack does not say. */
  team(): Promise<string | undefined>;
  /** A call about this channel. A failure becomes an error for the outbox, which also logs it. */
  about<T>(channel: string, call: (web: WebClient) => Promise<T>): Promise<T>;
  /**
   * Checks the token regularly even if there is nothing to post: better to learn of a problem now than when there is.
   */
  keepChecking(signal: AbortSignal): Promise<void>;
  /** The last problem that is not over yet, with the token or in a channel that is still configured. */
  trouble(): SlackProblem | undefined;
}

const checkEveryMs = 300_000;

export function createCalls({ botToken, own, endpoint, log, clock }: CallsDeps): Calls {
  let client: { token: string; web: WebClient; team?: string } | undefined;
  const inChannel = new Map<string, SlackProblem>();
  let ofToken: SlackProblem | undefined;

  async function web(): Promise<WebClient> {
    const token = await botToken();
    if (client?.token !== token) client = { token, web: createWebClient(token, endpoint) };
    return client.web;
  }

  async function about<T>(channel: string, call: (web: WebClient) => Promise<T>): Promise<T> {
    try {
      const result = await call(await web());
      inChannel.delete(channel);
      return result;
    } catch (error) {
      if (error instanceof RangeError || error instanceof NotSent) throw error;
      const found = troubleIn(channel, error);
      if (found.kind !== 'TooFast') inChannel.set(channel, found);
      throw asOutboxError(found);
    }
  }

  /** A token never changes its workspace. */
  async function team(): Promise<string | undefined> {
    await web();
    return client?.team ?? askForTeam();
  }

  async function askForTeam(): Promise<string | undefined> {
    const asked = await web();
    const { team_id } = await asked.auth.test();
    if (team_id !== undefined && client?.web === asked) client.team = team_id;
    return team_id;
  }

  async function check(): Promise<SlackProblem | undefined> {
    try {
      await askForTeam();
      return undefined;
    } catch (error) {
      return troubleOf(error);
    }
  }

  async function keepChecking(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const found = await untilAborted(check(), signal).catch(() => undefined);
      if (signal.aborted) return;
      if (found && found.kind !== ofToken?.kind)
        log.warn({ kind: found.kind, reason: found.say }, 'slack cannot be written to');
      if (!found && ofToken) log.info({ was: ofToken.kind }, 'slack can be written to again');
      ofToken = found;
      await clock.sleep(found ? tokenRetryMs : checkEveryMs, signal);
    }
  }

  const trouble = (): SlackProblem | undefined =>
    ofToken ?? own().flatMap((channel) => inChannel.get(channel) ?? [])[0];
  return { web, team, about, keepChecking, trouble };
}
