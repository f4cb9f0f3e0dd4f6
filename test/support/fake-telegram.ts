import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLimits, usualLimits } from './telegram-limits.ts';
import { parseStrictly } from './telegram-html.ts';

/** A Telegram that refuses what the real one refuses. Found by trying, not by reading: see each rule. */
export const botToken = '123456789:AAFakeFakeFakeFakeFakeFakeFakeFakeFake';

export interface SentMessage {
  id: number;
  chat: string;
  thread?: number;
  text: string;
  silent: boolean;
  replyTo?: number;
  buttons: { text: string; callback_data: string }[];
}
type Body = Record<string, unknown>;
/** `lost`: it is done, and nobody hears of it. */
type Fault = { status: number; body: string } | 'hang up' | 'silence' | 'lost';
class Refused extends Error {
  readonly code: number;
  readonly parameters: object | undefined;
  constructor(code: number, description: string, parameters?: object) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

export async function startFakeTelegram({
  chats = ['-100500'],
  pollMs = 25_000,
  sendMs = 0,
  limits = usualLimits,
  /** The time that messages bear, and that limits are about. */
  now = () => Date.now(),
  onCall = (_method: string, _body: Record<string, unknown>): void => undefined,
} = {}) {
  const messages = new Map<number, SentMessage>();
  const answers: { id: string; text: string; alert: boolean }[] = [];
  const calls: string[] = [];
  const faults: { method: string; fault: Fault }[] = [];
  const stale = new Set<string>();
  let updates: { update_id: number; callback_query?: object; message?: object }[] = [];
  const kicked = new Set<string>();
  const goneTopics = new Set<number>();
  const moved = new Map<string, number>();
  let commands: { command: string; description: string }[] = [];
  let nextUpdate = 1000;
  const every: object[] = [];
  let again = false;
  let poll: { response: ServerResponse; offset: number; timer: NodeJS.Timeout } | undefined;
  let token = botToken;
  const isTooFast = createLimits(limits, now);
  let refused = 0;

  function arrive(update: object): void {
    const numbered = { update_id: nextUpdate++, ...update };
    updates.push(numbered);
    every.push(numbered);
    answerPoll(false);
  }

  const reply = (response: ServerResponse, status: number, body: object): void =>
    misbehave(response, { status, body: JSON.stringify(body) });
  const refusal = (response: ServerResponse, { code, message, parameters }: Refused): void =>
    reply(response, code, { ok: false, error_code: code, description: message, ...(parameters && { parameters }) });

  function answerPoll(always: boolean): void {
    if (!poll) return;
    const { response, offset, timer } = poll;
    if (!again) updates = updates.filter(({ update_id }) => update_id >= offset); // an offset confirms everything below it
    if (updates.length === 0 && !always) return;
    clearTimeout(timer);
    poll = undefined;
    again = false;
    reply(response, 200, { ok: true, result: updates });
  }

  function getUpdates(body: Body, response: ServerResponse): void {
    if (poll) {
      clearTimeout(poll.timer);
      // With two pollers it is the older one that is told.
      refusal(
        poll.response,
        new Refused(
          409,
          'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
        ),
      );
    }
    const waitMs = Math.min(Number(body['timeout'] ?? 0) * 1000, pollMs);
    poll = { response, offset: Number(body['offset'] ?? 0), timer: setTimeout(() => answerPoll(true), waitMs) };
    response.on('close', () => {
      if (poll?.response !== response) return;
      clearTimeout(poll.timer);
      poll = undefined;
    });
    answerPoll(false);
  }

  /** Of a group that became a supergroup only who wants to write is told: check_chat_access of tdlib/telegram-bot-api. */
  function reachable(body: Body, to: 'write' | 'edit' | 'read'): string {
    const chat = String(body['chat_id']);
    if (kicked.has(chat) && isPrivate(chat)) throw new Refused(403, 'Forbidden: bot was blocked by the user');
    if (kicked.has(chat)) throw new Refused(403, 'Forbidden: bot was kicked from the supergroup chat');
    const migrate_to_chat_id = moved.get(chat);
    if (migrate_to_chat_id !== undefined && to === 'write')
      throw new Refused(400, 'Bad Request: group chat was upgraded to a supergroup chat', { migrate_to_chat_id });
    if (!chats.includes(chat)) throw new Refused(400, 'Bad Request: chat not found');
    return chat;
  }

  function checked(body: Body, to: 'write' | 'edit'): Omit<SentMessage, 'id'> {
    const chat = reachable(body, to);
    const text = body['parse_mode'] === 'HTML' ? parsed(String(body['text'])) : String(body['text']);
    if (text.length === 0) throw new Refused(400, 'Bad Request: message text is empty');
    if (text.length > 4096) throw new Refused(400, 'Bad Request: message is too long');
    const markup = (body['reply_markup'] ?? {}) as { inline_keyboard?: SentMessage['buttons'][] };
    const buttons = (markup.inline_keyboard ?? []).flat();
    if (buttons.some(({ callback_data }) => Buffer.byteLength(callback_data) > 64 || callback_data === '')) {
      throw new Refused(400, 'Bad Request: BUTTON_DATA_INVALID');
    }
    const thread = body['message_thread_id'] as number | undefined;
    // The first topic of a forum has no number, and who talks with a bot has none at all.
    const isNone = thread !== undefined && (thread === 1 || goneTopics.has(thread) || isPrivate(chat));
    if (isNone) throw new Refused(400, 'Bad Request: message thread not found');
    const replyTo = (body['reply_parameters'] as { message_id?: number } | undefined)?.message_id;
    const where = { chat, ...(thread !== undefined && { thread }), ...(replyTo !== undefined && { replyTo }) };
    return { ...where, text, silent: body['disable_notification'] === true, buttons };
  }

  const methods: Record<string, (body: Body) => unknown> = {
    getMe: () => ({ id: 123456789, is_bot: true, first_name: 'tapfix', username: 'tapfix_bot' }),
    getChat: (body) => chatOf(reachable(body, 'read')),
    sendChatAction: (body) => reachable(body, 'write') !== '',
    sendMessage(body) {
      const id = 4711 + messages.size;
      messages.set(id, { id, ...checked(body, 'write') });
      return { message_id: id, date: 0, chat: chatOf(String(body['chat_id'])) };
    },
    editMessageText(body) {
      const before = messages.get(Number(body['message_id']));
      const next = checked(body, 'edit');
      if (before?.chat !== next.chat) throw new Refused(400, 'Bad Request: message to edit not found');
      if (next.text === before.text && JSON.stringify(next.buttons) === JSON.stringify(before.buttons)) {
        throw new Refused(
          400,
          'Bad Request: message is not modified: specified new message content and reply markup are exactly the same',
        );
      }
      messages.set(before.id, { ...before, text: next.text, buttons: next.buttons });
      return { message_id: before.id, date: 0, chat: chatOf(before.chat) };
    },
    /** https://core.telegram.org/bots/api#botcommand */
    setMyCommands(body) {
      commands = body['commands'] as typeof commands;
      const isRight = (one: (typeof commands)[number]): boolean =>
        /^[a-z0-9_]{1,32}$/.test(one.command) && one.description.length >= 1 && one.description.length <= 256;
      if (commands.length > 100 || !commands.every(isRight)) throw new Refused(400, 'Bad Request: BOT_COMMAND_INVALID');
      return true;
    },
    answerCallbackQuery(body) {
      const id = String(body['callback_query_id']);
      const text = String(body['text'] ?? '');
      if (stale.has(id))
        throw new Refused(400, 'Bad Request: query is too old and response timeout expired or query ID is invalid');
      if (text.length > 200) throw new Refused(400, 'Bad Request: MESSAGE_TOO_LONG');
      answers.push({ id, text, alert: body['show_alert'] === true });
      return true;
    },
  };

  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const [, given, method = ''] = /^\/bot([^/]+)\/(\w+)/.exec(request.url ?? '') ?? [];
      calls.push(method);
      try {
        const body = (text ? JSON.parse(text) : {}) as Body;
        onCall(method, body);
        if (given !== token) throw new Refused(401, 'Unauthorized');
        const planned = faults.findIndex((fault) => fault.method === method);
        const fault = planned >= 0 ? faults.splice(planned, 1)[0]!.fault : undefined;
        if (fault && fault !== 'lost') return misbehave(response, fault);
        if (method === 'getUpdates') return getUpdates(body, response);
        if (isTooFast(method, body['chat_id'] === undefined ? undefined : String(body['chat_id']))) {
          refused += 1;
          return misbehave(response, tooManyRequests(5));
        }
        const known = methods[method];
        if (!known) throw new Refused(404, 'Not Found: method not found');
        const result = known(body);
        if (fault === 'lost') return misbehave(response, 'hang up');
        // What takes a while has arrived all the same.
        setTimeout(() => reply(response, 200, { ok: true, result }), method === 'sendMessage' ? sendMs : 0);
      } catch (error) {
        refusal(response, error instanceof Refused ? error : new Refused(500, String(error)));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    apiRoot: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    answers,
    messages: (): SentMessage[] => [...messages.values()],
    setToken: (next: string): void => void (token = next),
    /** The next call of this method goes wrong. */
    fail: (method: string, fault: Fault): void => void faults.push({ method, fault }),
    /** Nothing that was asked for goes wrong any more. */
    heal: (): void => void (faults.length = 0),
    forget: (id: number): void => void messages.delete(id),
    /** How often we went beyond Telegram's limits. */
    refused: (): number => refused,
    commands: () => commands,
    kick: (chat: string, back = false): void => void (back ? kicked.delete(chat) : kicked.add(chat)),
    endTopic: (thread: number): void => void goneTopics.add(thread),
    /** The group becomes a supergroup: another chat, and the members are told so in the old one. */
    upgrade(chat: string, to: string, isTold = false): void {
      moved.set(chat, Number(to));
      chats.push(to);
      const old = { id: Number(chat), type: 'group' };
      const message = { message_id: 1, date: 1, chat: old, migrate_to_chat_id: Number(to) };
      if (isTold) arrive({ message });
    },
    /** Somebody writes; without a text it is no command. */
    write(
      text: string,
      { from = 123456789, chat = '-100500', replyTo = 0, forwarded = false, secondsAgo = 0 } = {},
    ): number {
      mustBeIn(chat, from);
      const message_id = nextUpdate;
      const message = {
        message_id,
        date: Math.floor(now() / 1000) - secondsAgo,
        chat: chatOf(chat),
        from: { id: from, is_bot: false, first_name: 'Ada' },
        text,
        ...(replyTo && { reply_to_message: { message_id: replyTo, date: 1, chat: { id: Number(chat) } } }),
        ...(forwarded && { forward_origin: { type: 'hidden_user', date: 1, sender_user_name: 'Ben' } }),
      };
      arrive({ message });
      return message_id;
    },
    press(data: string, { from = 123456789, message = 4711, chat = '-100500', old = false } = {}): string {
      mustBeIn(chat, from);
      const id = `query-${nextUpdate}`;
      if (old) stale.add(id);
      const isOurs = messages.get(message)?.chat === chat;
      const pressed = {
        message_id: message,
        date: 1,
        chat: chatOf(chat),
        ...(isOurs && { from: { id: Number(token.split(':')[0]), is_bot: true, first_name: 'tapfix' } }),
      };
      const person = { id: from, is_bot: false, first_name: 'Ada' };
      arrive({ callback_query: { id, data, from: person, message: pressed } });
      return id;
    },
    /**
     * Delivers these again, in this order, whatever was confirmed: Telegram promises "at least once", and a poll whose
     * answer was lost is repeated.
     */
    deliver(these: readonly object[]): void {
      updates = these as typeof updates;
      again = true;
      answerPoll(false);
    },
    /** Everything was delivered, and handled: somebody polls for more. */
    isWaiting: (): boolean => poll !== undefined && !again,
    /** Every update there ever was, the oldest first. */
    everyUpdate: (): readonly object[] => every,
    async close(): Promise<void> {
      clearTimeout(poll?.timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function mustBeIn(chat: string, person: number): void {
  if (isPrivate(chat) && chat !== String(person)) throw new Error(`${person} is not in the private chat ${chat}`);
}

export const tooManyRequests = (seconds: number): Fault => ({
  status: 429,
  body: JSON.stringify({
    ok: false,
    error_code: 429,
    description: 'Too Many Requests',
    parameters: { retry_after: seconds },
  }),
});

function misbehave(response: ServerResponse, fault: Fault): void {
  if (fault === 'silence') return;
  if (fault === 'hang up' || fault === 'lost') response.destroy();
  else response.writeHead(fault.status, { 'content-type': 'application/json' }).end(fault.body);
}

/** The text that people see of it. */
function parsed(html: string): string {
  try {
    return parseStrictly(html);
  } catch (error) {
    throw new Refused(400, `Bad Request: can't parse entities: ${String(error)}`);
  }
}

/** Of somebody with the bot: it bears that person's number. https://core.telegram.org/bots/api#chat */
const isPrivate = (chat: string): boolean => !chat.startsWith('-');
const chatOf = (chat: string): object => ({ id: Number(chat), type: isPrivate(chat) ? 'private' : 'supergroup' });
