import { webApi } from '@slack/bolt';
import { RetryLater, UserError } from '../../lib/errors.ts';

/** A problem with Slack, in words that may be logged. */
export interface SlackProblem {
  kind:
    | 'NoToken'
    | 'TokenRefused'
    | 'MissingScope'
    | 'SocketModeOff'
    | 'TooFast'
    | 'NoSuchChannel'
    | 'Refused'
    | 'ServerError'
    | 'Garbage'
    | 'Unreachable'
    | 'Disconnected';
  say: string;
  /** How long to wait before a retry, by the vendor or by our default; undefined if a retry would not help. */
  retryMs?: number;
}

/** A SlackProblem that we noticed ourselves. */
export class SlackTrouble extends Error {
  override readonly name = 'SlackTrouble';
  readonly trouble: SlackProblem;
  constructor(trouble: SlackProblem) {
    super(trouble.say);
    this.trouble = trouble;
  }
}

const otherwiseMs = 5_000;
export const tokenRetryMs = 30_000;

export function noToken(what: 'bot' | 'app'): SlackTrouble {
  const name = what === 'bot' ? 'SLACK_BOT_TOKEN' : 'SLACK_APP_TOKEN';
  const say = `no Slack ${what} token: set ${name} or ${name}_FILE`;
  return new SlackTrouble({ kind: 'NoToken', say, retryMs: tokenRetryMs });
}

export const garbage = (): SlackProblem => ({
  kind: 'Garbage',
  say: 'Slack answered with something that is not its API',
  retryMs: otherwiseMs,
});

const tokenErrors =
  /^(invalid_auth|not_authed|account_inactive|token_(revoked|expired)|not_allowed_token_type|user_removed_from_team|team_disabled|org_login_required|access_denied)$/;
const serverErrors = /^(internal_error|fatal_error|service_unavailable|request_timeout|team_added_to_org)$/;
const channelErrors: Readonly<Record<string, string>> = {
  channel_not_found:
    'Slack shows tapfix no such channel: check the id in channels.slack; a private one must invite tapfix',
  not_in_channel: 'tapfix is not in that Slack channel: invite it with /invite @tapfix',
  is_archived: 'that Slack channel is archived: name another one in channels.slack',
};

/** Every error is classified here and nowhere else. `whose` is the token the call was made with. */
export function troubleOf(error: unknown, whose: 'bot' | 'app' = 'bot'): SlackProblem {
  if (error instanceof SlackTrouble) return error.trouble;
  // A token file that exists but cannot be read.
  if (error instanceof UserError) return { kind: 'NoToken', say: error.message, retryMs: tokenRetryMs };
  if (error instanceof webApi.WebAPIRateLimitedError) return tooFast(error.retryAfter);
  if (error instanceof webApi.WebAPIHTTPError) return ofStatus(error.statusCode);
  if (error instanceof webApi.WebAPIPlatformError) return ofAnswer(error.data as Answer, whose);
  if (error instanceof webApi.WebAPIRequestError) return unreachable(error.original);
  if (error instanceof Error && error.message.startsWith('Retry header did not')) return tooFast(30);
  // An answer of null, for example, makes the library fail with a TypeError. A connection that broke midway has a
  // cause.
  return error instanceof TypeError && error.cause === undefined ? garbage() : unreachable(error);
}

/** The same for a call about one channel. */
export function troubleIn(channel: string, error: unknown): SlackProblem {
  const found = troubleOf(error);
  return found.kind === 'NoSuchChannel' ? { ...found, say: `tapfix cannot write to ${channel}: ${found.say}` } : found;
}

/** How long Slack asks to wait, if it does. */
export const waitAskedMs = (error: unknown): number | undefined => {
  const found = error === undefined ? undefined : troubleOf(error);
  return found?.kind === 'TooFast' ? found.retryMs : undefined;
};

interface Answer {
  error?: unknown;
  needed?: unknown;
}

function ofAnswer({ error, needed }: Answer, whose: 'bot' | 'app'): SlackProblem {
  // If Slack answers with a page, the library puts the whole page into "error".
  if (typeof error !== 'string' || !/^[a-z0-9_.:-]{1,60}$/.test(error)) return garbage();
  if (tokenErrors.test(error))
    return { kind: 'TokenRefused', say: `Slack refused the ${whose} token (${error})`, retryMs: tokenRetryMs };
  if (error === 'missing_scope')
    return {
      kind: 'MissingScope',
      say: `the ${whose} token lacks the Slack scope ${scope(needed)}`,
      retryMs: tokenRetryMs,
    };
  if (/^rate_?limited$/.test(error)) return tooFast(30);
  if (serverErrors.test(error))
    return { kind: 'ServerError', say: `Slack has a problem (${error})`, retryMs: otherwiseMs };
  const say = channelErrors[error];
  return say ? { kind: 'NoSuchChannel', say } : { kind: 'Refused', say: `Slack refused the message (${error})` };
}

const scope = (needed: unknown): string =>
  typeof needed === 'string' && /^[\w:.,-]{1,80}$/.test(needed) ? needed : 'it needs';

const tooFast = (seconds: number): SlackProblem => ({
  kind: 'TooFast',
  say: `Slack asks to wait ${seconds} s`,
  retryMs: seconds * 1000,
});

export const ofStatus = (status: number): SlackProblem =>
  status >= 500
    ? { kind: 'ServerError', say: `Slack has a problem (HTTP ${status})`, retryMs: otherwiseMs }
    : { kind: 'Garbage', say: `Slack answered HTTP ${status}, which its API never does`, retryMs: otherwiseMs };

function unreachable(error: unknown): SlackProblem {
  const why = namesIn(error).at(-1);
  return { kind: 'Unreachable', say: `Slack cannot be reached (${why ?? 'no answer'})`, retryMs: otherwiseMs };
}

const isTelling = /^(?!Error$|TypeError$|SM|WebAPI)[A-Z]\w+$/;

/**
 * The names of the nested errors (ECONNREFUSED, TimeoutError...), the innermost last. Other texts may hold anything.
 */
function namesIn(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const { code, name, cause } = error as { code?: unknown; name: string; cause?: unknown };
  const own = [name, code].filter((word): word is string => typeof word === 'string' && isTelling.test(word));
  return [...own, ...namesIn(cause)];
}

/** For the outbox: retry later, or never. The vendor's own error stays in this file. */
export const asOutboxError = ({ say, retryMs }: SlackProblem): Error =>
  retryMs === undefined ? new Error(say) : new RetryLater(say, retryMs);

const refusedBecause = (error: unknown, pattern: RegExp): boolean =>
  error instanceof webApi.WebAPIPlatformError && pattern.test(String(error.data.error));

export const isGone = (error: unknown): boolean =>
  refusedBecause(error, /^(message_not_found|cant_update_message|edit_window_closed)$/);
export const isBadMarkup = (error: unknown): boolean =>
  refusedBecause(error, /^(invalid_blocks|invalid_blocks_format|msg_blocks_too_long|msg_too_long)$/);
