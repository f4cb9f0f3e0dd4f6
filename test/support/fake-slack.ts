import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RefusedBySlack, readMessage } from './block-kit.ts';
import { createSocketHub } from './fake-slack-sockets.ts';

/** A Slack that refuses what the real one refuses, and misbehaves when asked to. */
export const botToken = 'xoxb-fake-fake-fake-bot';
export const appToken = 'xapp-fake-fake-fake-app';

export interface SentMessage {
  ts: string;
  channel: string;
  thread?: string;
  /** Said in the channel as well. */
  broadcast?: true;
  /** All that people can read, one block a line. */
  text: string;
  /** On the lock screen. */
  notification: string;
  buttons: { text: string; value: string }[];
}
/** What one person alone sees. */
export interface Ephemeral {
  channel?: string;
  user?: string;
  text: string;
  thread?: string;
  /** Where it was answered instead, and whether it took the place of what was pressed. */
  via?: string;
  replaced?: true;
  buttons?: { text: string; value: string }[];
}
type Body = Record<string, string>;
type Fault = { status: number; body: string; headers?: Record<string, string> } | 'hang up' | 'silence';

/**
 * Calls a minute, of the whole app: https://docs.slack.dev/apis/web-api/rate-limits. Posts are also counted by channel:
 * one a second, "short bursts allowed".
 */
const limits: Readonly<Record<string, number>> = {
  'chat.postMessage': 300,
  'chat.update': 50,
  'chat.postEphemeral': 100,
};
const usualBurst = 3;

export async function startFakeSlack({
  channels = ['C0123456789'],
  port = 0,
  /** The time that limits are about, and how many posts a channel takes at once. */
  now = () => Date.now(),
  burst = usualBurst,
  onCall = (_method: string, _body: Record<string, string>): void => undefined,
} = {}) {
  const hub = createSocketHub(() => `http://127.0.0.1:${address().port}/response`);
  const members = new Map(channels.map((id) => [id, 'member' as 'member' | 'stranger' | 'archived']));
  const messages = new Map<string, SentMessage>();
  const ephemerals: Ephemeral[] = [];
  const calls: string[] = [];
  const faults: { method: string; fault: Fault }[] = [];
  let recent: { method: string; atMs: number }[] = [];
  const level = new Map<string, { used: number; atMs: number }>();
  const tokens = { bot: botToken, app: appToken };
  const revoked = new Set<string>();
  let refused = 0;

  const refuse = (code: string): never => {
    throw new RefusedBySlack(code, '');
  };

  function authorise(method: string, given: string): void {
    if (revoked.has(given)) refuse('token_revoked');
    const [right, wrong] = method.startsWith('apps.') ? [tokens.app, tokens.bot] : [tokens.bot, tokens.app];
    if (given === wrong) refuse('not_allowed_token_type');
    if (given !== right) refuse(given === '' ? 'not_authed' : 'invalid_auth');
  }

  function place(channel: string): void {
    const state = members.get(channel) ?? refuse('channel_not_found');
    if (state === 'archived') refuse('is_archived');
    if (state === 'stranger') refuse('not_in_channel');
  }

  function content(body: Body): Pick<SentMessage, 'text' | 'notification' | 'buttons'> {
    const blocks = body['blocks'] === undefined ? undefined : (JSON.parse(body['blocks']) as Block[]);
    const text = readMessage({ text: body['text'], blocks });
    return { text, notification: body['text']!, buttons: (blocks ?? []).flatMap(buttonsOf) };
  }

  const methods: Record<string, (body: Body) => object> = {
    'auth.test': () => ({ url: 'https://ops.slack.com/', team_id: 'T012', user_id: 'U0BOT', bot_id: 'B012' }),
    'apps.connections.open': () => ({ url: `ws://127.0.0.1:${address().port}/link/?ticket=${hub.ticket()}` }),
    'chat.postMessage'(body) {
      place(body['channel']!);
      const ts = `1700000000.${String(messages.size + 1).padStart(6, '0')}`;
      const thread = body['thread_ts'];
      const broadcast = body['reply_broadcast'] === 'true';
      if (broadcast && thread === undefined) refuse('invalid_arguments');
      const where = { ...(thread !== undefined && { thread }), ...(broadcast && { broadcast: true as const }) };
      messages.set(ts, { ts, channel: body['channel']!, ...where, ...content(body) });
      return { ts, channel: body['channel'] };
    },
    'chat.update'(body) {
      place(body['channel']!);
      const before = messages.get(body['ts']!);
      if (!before || before.channel !== body['channel']) return refuse('message_not_found');
      messages.set(before.ts, { ...before, ...content(body) });
      return { ts: before.ts, channel: before.channel };
    },
    'chat.postEphemeral'(body) {
      place(body['channel']!);
      if (!/^[UW][A-Z0-9]+$/.test(body['user']!)) refuse('user_not_in_channel');
      const thread = body['thread_ts'];
      const said = { channel: body['channel']!, user: body['user']!, ...(thread !== undefined && { thread }) };
      const { text, buttons } = content(body);
      ephemerals.push({ ...said, text, ...(buttons.length > 0 && { buttons }) });
      return { message_ts: '1.2' };
    },
  };

  function isTooFast(method: string, { channel = '' }: Body): boolean {
    const nowMs = now();
    recent = recent.filter(({ atMs }) => atMs > nowMs - 60_000);
    const before = recent.filter((call) => call.method === method).length;
    recent.push({ method, atMs: nowMs });
    return (method === 'chat.postMessage' && isBurst(channel, nowMs)) || before >= (limits[method] ?? Infinity);
  }

  /** A bucket that leaks one post a second. */
  function isBurst(channel: string, atMs: number): boolean {
    const before = level.get(channel) ?? { used: 0, atMs };
    const used = Math.max(before.used - (atMs - before.atMs) / 1_000, 0) + 1;
    level.set(channel, { used, atMs });
    return used > burst;
  }

  /** Each of them works five times. https://docs.slack.dev/interactivity/handling-user-interaction#message_responses */
  const uses = new Map<string, number>();
  function respond(path: string, text: string): number {
    const used = (uses.get(path) ?? 0) + 1;
    uses.set(path, used);
    if (used > 5) return 404;
    const { blocks, replace_original, ...body } = JSON.parse(text) as Record<string, unknown>;
    const words = content({
      text: String(body['text']),
      ...(blocks !== undefined && { blocks: JSON.stringify(blocks) }),
    });
    ephemerals.push({
      text: words.text,
      via: path,
      ...(replace_original === true && { replaced: true as const }),
      ...(words.buttons.length > 0 && { buttons: words.buttons }),
    });
    return 200;
  }

  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const method = (request.url ?? '').replace('/api/', '');
      calls.push(method);
      const planned = faults.findIndex((fault) => fault.method === method);
      if (planned >= 0) return misbehave(response, faults.splice(planned, 1)[0]!.fault);
      if (method.startsWith('/response/')) return void response.writeHead(respond(method, text)).end('ok');
      const body = Object.fromEntries(new URLSearchParams(text));
      onCall(method, body);
      if (isTooFast(method, body)) {
        refused += 1;
        return misbehave(response, tooManyRequests(30));
      }
      response.setHeader('content-type', 'application/json');
      try {
        authorise(method, (request.headers.authorization ?? '').replace('Bearer ', ''));
        const result = (methods[method] ?? (() => refuse('unknown_method')))(body);
        response.end(JSON.stringify({ ok: true, ...result }));
      } catch (error) {
        if (!(error instanceof RefusedBySlack)) throw error;
        response.end(JSON.stringify({ ok: false, error: error.code, ...(error.message && { why: error.message }) }));
      }
    });
  });
  server.on('upgrade', hub.upgrade);
  const address = (): AddressInfo => server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

  return {
    ...hub,
    apiUrl: `http://127.0.0.1:${address().port}/api/`,
    port: address().port,
    calls,
    ephemerals,
    messages: (): SentMessage[] => [...messages.values()],
    forget: (ts: string): void => void messages.delete(ts),
    /** How often we went beyond Slack's limits. */
    refused: (): number => refused,
    setTokens: (next: Partial<typeof tokens>): void => void Object.assign(tokens, next),
    revoke: (token: string): void => void revoked.add(token),
    restore: (token: string): void => void revoked.delete(token),
    set: (channel: string, state: 'member' | 'stranger' | 'archived'): void => void members.set(channel, state),
    /** The next call of this method goes wrong. */
    fail: (method: string, fault: Fault): void => void faults.push({ method, fault }),
    async close(): Promise<void> {
      hub.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const tooManyRequests = (seconds: number): Fault => ({
  status: 429,
  headers: { 'retry-after': String(seconds) },
  body: '{"ok":false,"error":"ratelimited"}',
});

export const refusal = (error: string, more: object = {}): Fault => ({
  status: 200,
  body: JSON.stringify({ ok: false, error, ...more }),
});

function misbehave(response: ServerResponse, fault: Fault): void {
  if (fault === 'silence') return;
  if (fault === 'hang up') response.destroy();
  else response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers }).end(fault.body);
}

interface Block {
  type: string;
  elements?: { text: { text: string }; value: string }[];
}

const buttonsOf = ({ type, elements }: Block): SentMessage['buttons'] =>
  type === 'actions' ? elements!.map(({ text, value }) => ({ text: text.text, value })) : [];
