import type { Config } from './schema.ts';

/** The ids of config.example.yaml and config.starter.yaml. */
const examples: ReadonlySet<string> = new Set([
  '-1001234567890', '-1009876543210', '123456789', 'C0123456789', 'C0123456780', 'U012AB3CD',
]); // prettier-ignore

export interface ExampleId {
  where: string;
  id: string;
}

/** Ids that were left as the example has them: nobody would get a message, or a stranger might decide. Each once. */
export function exampleIdsIn({ channels: { telegram, slack }, approval }: Config): ExampleId[] {
  const chats = [telegram?.chat, ...(telegram?.routes ?? []).map(({ chat }) => chat)];
  const slackChannels = [slack?.channel, ...(slack?.routes ?? []).map(({ chat }) => chat)];
  const found: { where: string; id: string | number | undefined }[] = [
    ...chats.map((id) => ({ where: 'channels.telegram', id })),
    ...slackChannels.map((id) => ({ where: 'channels.slack', id })),
    ...approval.approvers.flatMap((person) =>
      [person.telegram, person.slack].map((id) => ({ where: `approver ${person.name}`, id })),
    ),
  ];
  const left = found.map(({ where, id }) => ({ where, id: String(id) })).filter(({ id }) => examples.has(id));
  return [...new Map(left.map((one) => [`${one.where} ${one.id}`, one])).values()];
}
