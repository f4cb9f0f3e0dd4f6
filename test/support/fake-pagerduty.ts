import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** An event as it was accepted. */
export interface PagerDutyEvent {
  routing_key: string;
  event_action: 'trigger' | 'acknowledge' | 'resolve';
  dedup_key?: string;
  payload?: { summary: string; source: string; severity: string } & Record<string, unknown>;
}

const mostBytes = 512 * 1024;
const eventKeys = ['routing_key', 'event_action', 'dedup_key', 'payload', 'images', 'links', 'client', 'client_url'];
const payloadKeys = [
  'summary', 'source', 'severity', 'timestamp', 'component', 'group', 'class', 'custom_details',
]; // prettier-ignore

type Fields = Record<string, unknown>;
const isText = (value: unknown, most: number): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= most;

/** Everything that the documentation of the Events API v2 does not allow: https://developer.pagerduty.com/docs/send-alert-event */
export function mistakesIn(event: Fields): string[] {
  const wrong: string[] = [];
  const must = (isRight: boolean, what: string): void => void (isRight || wrong.push(what));
  must(
    Object.keys(event).every((key) => eventKeys.includes(key)),
    'unknown keys',
  );
  must(
    isText(event['routing_key'], 32) && String(event['routing_key']).length === 32,
    'routing_key is not 32 characters',
  );
  must(['trigger', 'acknowledge', 'resolve'].includes(String(event['event_action'])), 'event_action is unknown');
  must(event['dedup_key'] === undefined || isText(event['dedup_key'], 255), 'dedup_key is too long');
  if (event['event_action'] !== 'trigger') {
    must(event['dedup_key'] !== undefined, 'dedup_key is missing');
    return wrong;
  }
  const payload = (event['payload'] ?? {}) as Fields;
  must(
    Object.keys(payload).every((key) => payloadKeys.includes(key)),
    'unknown keys in payload',
  );
  must(isText(payload['summary'], 1024), 'summary is missing or too long');
  must(isText(payload['source'], 1024), 'source is missing');
  must(['critical', 'error', 'warning', 'info'].includes(String(payload['severity'])), 'severity is unknown');
  must(payload['timestamp'] === undefined || !Number.isNaN(Date.parse(String(payload['timestamp']))), 'timestamp');
  for (const key of ['component', 'group', 'class'])
    must(payload[key] === undefined || typeof payload[key] === 'string', `${key} is no text`);
  return wrong;
}

/** PagerDuty's endpoint for events: it accepts what is documented, and refuses everything else. */
export async function fakePagerDuty() {
  const accepted: PagerDutyEvent[] = [];
  const refused: string[] = [];
  /** The next requests are answered with these codes, whatever they ask. */
  const trouble: number[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const reply = (code: number, json: object): void =>
      void response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    const refuse = (code: number, errors: string[]): void => {
      refused.push(...errors);
      reply(code, { status: 'invalid event', message: 'Event object is invalid', errors });
    };
    const code = trouble.shift();
    if (code !== undefined) return void response.writeHead(code, { location: '/elsewhere' }).end();
    if (request.method !== 'POST' || request.url !== '/v2/enqueue') return refuse(404, ['no such endpoint']);
    if (!request.headers['content-type']?.startsWith('application/json')) return refuse(400, ['no JSON']);
    if (Buffer.byteLength(body) > mostBytes) return refuse(413, ['too large']);
    const event = JSON.parse(body) as Fields;
    const errors = mistakesIn(event);
    if (errors.length > 0) return refuse(400, errors);
    accepted.push(event as unknown as PagerDutyEvent);
    reply(202, { status: 'success', message: 'Event processed', dedup_key: event['dedup_key'] });
  }

  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v2/enqueue`,
    accepted,
    refused,
    trouble,
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
