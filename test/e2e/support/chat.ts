import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type TelegramServerClass from 'telegram-test-api';

const require = createRequire(import.meta.url);
const TelegramServer = require('telegram-test-api') as typeof TelegramServerClass.default;

export const botToken = '123456789:AAE2etesttokenAAE2etesttokenAAE2et';
/** Another for every test file: the stand-in counts messages from 1, and Telegram never gives a chat the same number twice. */
export const chatId = -1_001_000_000_000 - Math.floor(Math.random() * 1e9);
export const ada = 111;
export const mallory = 666;

export interface Button {
  text: string;
  callback_data: string;
}
export interface ChatMessage {
  id: number;
  text: string;
  buttons: Button[];
}
export interface Chat {
  apiRoot: string;
  /** What the bot called, in order; getUpdates is left out. */
  calls: { method: string; body: Record<string, unknown>; at: number }[];
  messages(): ChatMessage[];
  posts(): number;
  press(message: ChatMessage, label: RegExp, userId?: number): Promise<void>;
  answers(): string[];
  close(): Promise<void>;
}

/**
 * A Telegram that nobody here wrote (telegram-test-api), behind a front that only counts, waits a little when
 * there is no update (it has no long polling), and shows the keyboard of the last edit, as Telegram does.
 */
export async function startChat(address: string): Promise<Chat> {
  const inner = 20_000 + Math.floor(Math.random() * 20_000);
  const telegram = new TelegramServer({ port: inner, host: '127.0.0.1', storeTimeout: 7200 });
  await telegram.start();
  const calls: Chat['calls'] = [];
  const keyboards = new Map<number, Button[]>();
  const front = createServer((incoming, outgoing) => {
    void (async () => {
      const body = await read(incoming);
      const method = incoming.url?.split('/').pop() ?? '';
      const answer = await forward(inner, incoming, body);
      if (method === 'getUpdates' && answer.text.includes('"result":[]')) await sleep(100);
      if (method !== 'getUpdates') calls.push({ method, body: parse(body), at: Date.now() });
      if (method === 'editMessageText')
        keyboards.set(Number(parse(body)['message_id']), buttonsOf(parse(body)['reply_markup']));
      outgoing.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
    })().catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => front.listen(0, '0.0.0.0', resolve));
  const { port } = front.address() as AddressInfo;

  const messages = (): ChatMessage[] =>
    telegram.storage.botMessages.map(({ messageId, message }) => ({
      id: messageId,
      text: message.text,
      buttons: keyboards.get(messageId) ?? buttonsOf(message.reply_markup),
    }));
  return {
    apiRoot: `http://${address}:${port}`,
    calls,
    messages,
    posts: () => calls.filter(({ method }) => method === 'sendMessage').length,
    answers: () =>
      calls.filter(({ method }) => method === 'answerCallbackQuery').map(({ body }) => String(body['text'] ?? '')),
    async press(message, label, userId = ada) {
      const button = message.buttons.find(({ text }) => label.test(text));
      if (!button)
        throw new Error(
          `no button ${label} among: ${message.buttons.map(({ text }) => text).join(' | ') || 'none'}\n${message.text}`,
        );
      const client = telegram.getClient(botToken, { userId, chatId, type: 'supergroup' });
      const about = { message: { message_id: message.id, chat: { id: chatId, type: 'supergroup', title: 'ops' } } };
      await client.sendCallback(client.makeCallbackQuery(button.callback_data, about as never));
    },
    async close() {
      front.closeAllConnections();
      front.close();
      await telegram.stop();
    },
  };
}

function buttonsOf(markup: unknown): Button[] {
  const value = typeof markup === 'string' ? (JSON.parse(markup) as unknown) : markup;
  return ((value as { inline_keyboard?: Button[][] } | undefined)?.inline_keyboard ?? []).flat();
}

const parse = (body: string): Record<string, unknown> => {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    return {};
  }
};

async function read(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function forward(
  port: number,
  { url, method, headers }: IncomingMessage,
  body: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const onward = request(
      { host: '127.0.0.1', port, path: url, method, headers: { ...headers, connection: 'close' } },
      (answer) => {
        read(answer).then((text) => resolve({ status: answer.statusCode ?? 502, text }), reject);
      },
    );
    onward.on('error', reject);
    onward.end(body);
  });
}
