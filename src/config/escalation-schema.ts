import { z } from 'zod';
import { hashOf } from '../lib/hash.ts';
import { slackChannel, slackUser, telegramChat, telegramUser } from './chat-ids.ts';
import { addIssue, duration, oneOf, text } from './fields.ts';

/** A webhook: the address and the key are in files, because whoever knows them can page people in our name. */
export type WebhookTarget =
  { format: 'json'; urlFile: string } | { format: 'pagerduty'; routingKeyFile: string; urlFile?: string };

/** Where something critical goes as well when nobody has answered it for so long. */
export interface EscalationStep {
  after: number;
  telegram?: { chat: string; mention: number[] };
  slack?: { channel: string; mention: string[] };
  webhook?: WebhookTarget;
}

/** Names a webhook without naming its address: its files are what the configuration knows. */
export const webhookId = (target: WebhookTarget): string => `${target.format}-${hashOf(target, 12)}`;

export const webhooksIn = (steps: readonly EscalationStep[]): WebhookTarget[] =>
  steps.flatMap(({ webhook: target }) => target ?? []);

const isObject = ({ value }: { value: unknown }): boolean => typeof value === 'object' && value !== null;

const fileHint = 'such as /var/run/tapfix-escalation/url; the watcher must be able to read it';
const file = text('the absolute path of a file', /^\/[^\0]*[^/\0]$/, fileHint);

const webhook = z
  .strictObject({
    format: oneOf(['json', 'pagerduty']),
    urlFile: file.optional(),
    routingKeyFile: file.optional(),
  })
  .superRefine(
    (given, context) => {
      if (given.format === 'json' && given.urlFile === undefined)
        addIssue(context, { wrong: 'is missing', hint: `the file that holds the address, ${fileHint}` }, ['urlFile']);
      if (given.format === 'json' && given.routingKeyFile !== undefined)
        addIssue(context, { wrong: 'is only for format: pagerduty', hint: 'remove it' }, ['routingKeyFile']);
      if (given.format === 'pagerduty' && given.routingKeyFile === undefined)
        addIssue(
          context,
          { wrong: 'is missing', hint: 'the file that holds the integration key of an Events API v2 integration' },
          ['routingKeyFile'],
        );
    },
    { when: isObject },
  )
  .transform((given) => given as WebhookTarget);

const step = z
  .strictObject({
    after: duration('1m', '24h', { required: true }),
    telegram: z.strictObject({ chat: telegramChat, mention: z.array(telegramUser).prefault([]) }).optional(),
    slack: z.strictObject({ channel: slackChannel, mention: z.array(slackUser).prefault([]) }).optional(),
    webhook: webhook.optional(),
  })
  .superRefine(
    ({ telegram, slack, webhook: hook }, context) => {
      if (telegram === undefined && slack === undefined && hook === undefined)
        addIssue(context, { wrong: 'leads nowhere', hint: 'give it a telegram, a slack or a webhook' });
    },
    { when: isObject },
  );

export const escalation = z.array(step).prefault([]);

interface Reaching {
  escalation: Partial<Record<'telegram' | 'slack', unknown>>[];
  channels: Partial<Record<'telegram' | 'slack', unknown>>;
}

/** A step's chat is reached with the bot of that channel, so the channel must be configured. */
export function reportUnreachable({ escalation: steps, channels }: Reaching, context: z.core.$RefinementCtx): void {
  if (!Array.isArray(steps)) return;
  for (const [index, given] of steps.entries())
    for (const vendor of ['telegram', 'slack'] as const)
      if (given?.[vendor] !== undefined && channels?.[vendor] === undefined)
        addIssue(
          context,
          { wrong: `needs channels.${vendor} as well`, hint: `it is posted by the bot of channels.${vendor}` },
          ['escalation', index, vendor],
        );
}
