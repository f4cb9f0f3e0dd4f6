import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import packageJson from '../../../package.json' with { type: 'json' };
import { webhookId, type WebhookTarget } from '../../config/escalation-schema.ts';
import { type Clock, inTime } from '../../lib/clock.ts';
import { RetryLater } from '../../lib/errors.ts';
import { cut } from '../../lib/text.ts';
import type { Alert, Message } from '../../notices/cards/message.ts';
import { type Channel, type ChannelHealth, NotSent, type Place, type Turn } from '../channel.ts';

interface WebhookDeps {
  /** The webhooks in the current configuration. */
  targets: () => readonly WebhookTarget[];
  clock: Clock;
}

const connectMs = 5_000;
const answerWithinMs = 10_000;
const retryMs = 5_000;
/** For mistakes that a person has to mend: in the configuration, in a file, or at the other end. */
const mendMs = 300_000;
const longestRetryMs = 600_000;
/** The answer means nothing to us but for its status, so no more of it is read. */
const mostOfAnswer = 65_536;

/**
 * Webhooks as a channel: it posts what a machine reads, and nobody presses anything there. The address and the key may be
 * all that protects the other end, so no error names them.
 */
export function createWebhook({ targets, clock }: WebhookDeps): Channel {
  const troubles = new Map<string, string>();

  async function send({ chat }: Place, { alert }: Message, { signal, check }: Turn): Promise<string> {
    const target = targets().find((one) => webhookId(one) === chat);
    if (!target || !alert) throw new RetryLater('this webhook is no longer in the configuration', mendMs);
    try {
      const { url, body } = await requestTo(target, alert);
      if (signal?.aborted) throw new NotSent();
      check?.();
      await post(url, body);
      troubles.delete(chat);
    } catch (error) {
      if (error instanceof RetryLater && !(error instanceof NotSent)) troubles.set(chat, error.message);
      throw error;
    }
    return alert.id;
  }

  /** It is not aborted when we stop: a request that is on its way is waited for, so that it is not made again. */
  async function post(url: string, body: string): Promise<void> {
    const agent = new Agent({ allowH2: false, connect: { timeout: connectMs }, keepAliveTimeout: 1 });
    try {
      const answer = await inTime({ clock, ms: answerWithinMs, late: undefined }, (isLate) =>
        statusOf({ url, body, agent, signal: isLate }).catch((error: unknown) => {
          throw new RetryLater(`the webhook could not be reached${codeOf(error)}`, retryMs);
        }),
      );
      if (!answer) throw new RetryLater(`the webhook did not answer within ${answerWithinMs / 1000} s`, retryMs);
      const refusal = refusalOf(answer, clock.now());
      if (refusal) throw refusal;
    } finally {
      await agent.destroy();
    }
  }

  function health(): ChannelHealth {
    const known = new Set(targets().map(webhookId));
    const [trouble] = [...troubles].filter(([id]) => known.has(id));
    return trouble ? { ok: false, detail: `${trouble[0]}: ${trouble[1]}` } : { ok: true, detail: 'nothing failed' };
  }

  return {
    name: 'webhook',
    post: (place, message, _replyTo, turn = {}) => send(place, message, turn),
    edit: async (place, _id, message, turn = {}) => void (await send(place, message, turn)),
    run: (_handlers, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    health,
  };
}

/** https://developer.pagerduty.com/docs/send-alert-event: where events go unless a file names another place. */
const pagerDutyUrl = 'https://events.pagerduty.com/v2/enqueue';

/** The longest summary that PagerDuty takes. */
const longestSummary = 1024;

const severities: Readonly<Record<string, string>> = { critical: 'critical', warning: 'warning', info: 'info' };

/**
 * An event of the Events API v2. An acknowledgement and a resolution need only the key of what was triggered.
 * https://developer.pagerduty.com/docs/send-alert-event
 */
function pagerDutyEvent(alert: Alert, routingKey: string): object {
  const key = { routing_key: routingKey, event_action: alert.event, dedup_key: alert.id };
  if (alert.event !== 'trigger') return key;
  const [first] = alert.incidents;
  return {
    ...key,
    client: 'tapfix',
    payload: {
      summary: cut(alert.summary, longestSummary),
      source: alert.cluster,
      severity: severities[alert.severity] ?? 'error',
      timestamp: alert.at,
      ...(first && { component: first.name, group: first.namespace, class: first.class }),
      custom_details: { incidents: alert.incidents, ...(alert.more !== undefined && { more: alert.more }) },
    },
  };
}

/** The files are read every time, so that a rotated address or key is used at once. */
async function requestTo(target: WebhookTarget, alert: Alert): Promise<{ url: string; body: string }> {
  if (target.format === 'json')
    return { url: safeUrl(await read(target.urlFile), target.urlFile), body: JSON.stringify(alert) };
  const { urlFile, routingKeyFile } = target;
  const url = urlFile === undefined ? pagerDutyUrl : safeUrl(await read(urlFile), urlFile);
  return { url, body: JSON.stringify(pagerDutyEvent(alert, await read(routingKeyFile))) };
}

async function read(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new RetryLater(`${file} cannot be read (${error.code ?? 'unknown error'})`, 60_000);
  });
  if (!text.trim()) throw new RetryLater(`${file} is empty`, 60_000);
  return text.trim();
}

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

function safeUrl(text: string, file: string): string {
  const url = URL.parse(text);
  if (!url) throw new RetryLater(`${file} does not hold a URL`, mendMs);
  if (url.username || url.password)
    throw new RetryLater(`the URL in ${file} must not contain a user name or password`, mendMs);
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && loopback.includes(url.hostname));
  if (!isSafe) throw new RetryLater(`the URL in ${file} must begin with https://`, mendMs);
  return url.href;
}

interface Answered {
  status: number;
  retryAfter: string | undefined;
}

/** Redirects are not followed: whoever answers with one is not whom the file names. */
async function statusOf({
  url,
  body: sent,
  agent,
  signal,
}: {
  url: string;
  body: string;
  agent: Agent;
  signal: AbortSignal;
}): Promise<Answered> {
  const { statusCode, headers, body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': `tapfix/${packageJson.version}` },
    body: sent,
    dispatcher: agent,
    signal,
  });
  // The status has arrived, so the rest cannot change anything any more.
  void body.dump({ limit: mostOfAnswer, signal }).catch(() => undefined);
  const retryAfter = headers['retry-after'];
  return { status: statusCode, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter };
}

function refusalOf({ status, retryAfter }: Answered, nowMs: number): RetryLater | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status === 429 || status === 408 || status >= 500)
    return new RetryLater(`the webhook answered with HTTP ${status}`, waitOf(retryAfter, nowMs));
  if (status >= 300 && status < 400)
    return new RetryLater(`the webhook answered with a redirect (HTTP ${status}), which is not followed`, mendMs);
  return new RetryLater(`the webhook refused it (HTTP ${status})`, mendMs);
}

/** Seconds, or a date: https://www.rfc-editor.org/rfc/rfc9110#name-retry-after */
function waitOf(retryAfter: string | undefined, nowMs: number): number {
  if (!retryAfter) return retryMs;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 1_000), longestRetryMs) : retryMs;
}

/** Only the code: the message may name the address. */
function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z_]{2,40}$/.test(code) ? ` (${code})` : '';
}
