import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { acceptWebSocket, type WebSocketEnd } from './web-socket.ts';

export interface PressOptions {
  from?: string;
  /** The person's workspace. */
  team?: string;
  message?: string;
  channel?: string;
  /** The thread the message is in. */
  thread?: string;
  /** The message only one person sees. */
  ephemeral?: boolean;
  /** Which of the open sockets, the oldest first; Slack takes any. */
  via?: number;
}
interface Delivered {
  type: string;
  payload: object;
  acks: number[];
}

/** The sockets' half of the fake: tickets, hello, presses, and all that happens to sockets. */
export function createSocketHub(responses: () => string) {
  const tickets = new Set<string>();
  let open: WebSocketEnd[] = [];
  const presses: Delivered[] = [];
  const envelopes = new Map<string, { press: Delivered; sentAtMs: number }>();
  const half: Duplex[] = [];
  let manner: 'usual' | 'no answer' | 'no hello' | 'hello and goodbye' = 'usual';
  let opened = 0;
  let turn = 0;
  let strangers = 0;

  function upgrade(request: IncomingMessage, raw: Duplex): void {
    const ticket = new URL(request.url ?? '', 'http://slack').searchParams.get('ticket') ?? '';
    half.push(raw);
    raw.on('error', () => raw.destroy());
    if (manner === 'no answer') return;
    if (!tickets.delete(ticket)) return void raw.end('HTTP/1.1 408 Request Timeout\r\n\r\n'); // each works once
    const socket = acceptWebSocket(request, raw);
    if (manner === 'no hello') return;
    opened += 1;
    open.push(socket);
    socket.onEnd(() => (open = open.filter((other) => other !== socket)));
    socket.onText((text) => {
      const { envelope_id } = JSON.parse(text) as { envelope_id: string };
      const envelope = envelopes.get(envelope_id);
      envelope?.press.acks.push(Date.now() - envelope.sentAtMs);
    });
    const debug_info = { host: 'applink-1', build_number: 10, approximate_connection_time: 18060 };
    socket.send(
      JSON.stringify({
        type: 'hello',
        num_connections: open.length + strangers,
        debug_info,
        connection_info: { app_id: 'A012' },
      }),
    );
    if (manner === 'hello and goodbye') goodbye(socket, 'too_many_websockets');
  }

  /** From then on Slack sends nothing more over it. */
  function goodbye(socket: WebSocketEnd | undefined, reason: string): void {
    open = open.filter((other) => other !== socket);
    socket?.send(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'applink-1' } }));
  }

  /** false: nobody was there. */
  function deliver(press: Delivered, via?: number): boolean {
    const socket = open[via ?? turn++ % Math.max(open.length, 1)];
    if (!socket) return false;
    const envelope_id = randomUUID();
    envelopes.set(envelope_id, { press, sentAtMs: Date.now() });
    const { type, payload } = press;
    socket.send(JSON.stringify({ envelope_id, type, accepts_response_payload: type !== 'events_api', payload }));
    return true;
  }

  return {
    upgrade,
    ticket(): string {
      const ticket = randomUUID();
      tickets.add(ticket);
      return ticket;
    },
    count: (): number => open.length,
    opened: (): number => opened,
    /** So many sockets of the app belong to somebody else. */
    share: (others: number): void => void (strangers = others),
    behave: (how: typeof manner): void => void (manner = how),
    drop(index: number): void {
      const [socket] = open.splice(index, 1);
      socket?.destroy();
    },
    goDeaf: (index: number): void => open[index]?.goDeaf(),
    say: (index: number, text: string): void => open[index]?.send(text),
    refresh: (index: number, reason = 'refresh_requested'): void => goodbye(open[index], reason),
    /** Its number, or undefined: nobody was there, and Slack tells the presser. */
    press(
      data: string,
      {
        from = 'U012AB3CD',
        team = 'T012',
        message = '1.1',
        channel = 'C0123456789',
        thread,
        ephemeral = false,
        via,
      }: PressOptions = {},
    ) {
      const acted = {
        type: 'button',
        action_id: 'press-0',
        block_id: 'b',
        value: data,
        action_ts: `${Date.now()}.${presses.length}`,
      };
      const press: Delivered = {
        type: 'interactive',
        payload: {
          type: 'block_actions',
          user: { id: from, username: 'ada', team_id: team },
          team: { id: 'T012', domain: 'ops' },
          api_app_id: 'A012',
          container: {
            type: 'message',
            message_ts: message,
            channel_id: channel,
            is_ephemeral: ephemeral,
            ...(thread && { thread_ts: thread }),
          },
          trigger_id: randomUUID(),
          response_url: `${responses()}/${presses.length}`,
          channel: { id: channel, name: 'ops' },
          actions: [acted],
        },
        acks: [],
      };
      return deliver(press, via) ? presses.push(press) - 1 : undefined;
    },
    /** Somebody types "/tapfix text". */
    slash(text: string, { from = 'U012AB3CD', team = 'T012', channel = 'C0123456789', via }: PressOptions = {}) {
      const payload = {
        command: '/tapfix',
        text,
        team_id: team,
        team_domain: 'ops',
        user_id: from,
        user_name: 'ada',
        channel_id: channel,
        channel_name: 'ops',
        api_app_id: 'A012',
        trigger_id: randomUUID(),
        response_url: `${responses()}/${presses.length}`,
      };
      const press: Delivered = { type: 'slash_commands', payload, acks: [] };
      return deliver(press, via) ? presses.push(press) - 1 : undefined;
    },
    /** Somebody writes "@tapfix text". */
    mention(
      text: string,
      { from = 'U012AB3CD', team = 'T012', channel = 'C0123456789', thread, via }: PressOptions = {},
    ) {
      const event = {
        type: 'app_mention',
        user: from,
        team,
        text: `<@U0BOT> ${text}`,
        channel,
        ts: `${Math.floor(Date.now() / 1000)}.${String(presses.length).padStart(6, '0')}`,
        ...(thread && { thread_ts: thread }),
      };
      const payload = { type: 'event_callback', team_id: 'T012', event_id: randomUUID(), api_app_id: 'A012', event };
      const press: Delivered = { type: 'events_api', payload, acks: [] };
      return deliver(press, via) ? presses.push(press) - 1 : undefined;
    },
    redeliver: (press: number, via?: number): boolean => deliver(presses[press]!, via),
    /** How long each delivery of it waited to be acknowledged. */
    acks: (press: number): number[] => presses[press]!.acks,
    close: (): void => half.forEach((socket) => socket.destroy()),
  };
}
