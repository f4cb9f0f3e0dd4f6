import { z } from 'zod';
import { addIssue, anyText, duration, namespaceGlob, nonEmptyListOf, oneOf, text, type Wrong } from './fields.ts';
import { actionNames } from './vocabulary.ts';

const telegramUser = z.unknown().transform((value, context): number => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  addIssue(context, whyNoPerson(value));
  return z.NEVER;
});

function whyNoPerson(value: unknown): Wrong {
  if (typeof value === 'number')
    return { wrong: "must be a person's id, a positive number", hint: "a negative one is a group's" };
  const quoted = typeof value === 'string' && /^\d+$/.test(value);
  const hint = quoted ? 'without quotes' : 'the numeric id, not the @name; @userinfobot tells each person theirs';
  return { wrong: 'must be a number', hint };
}

const slackUser = text(
  'a Slack member id such as U012AB3CD',
  /^[UW][A-Z0-9]{2,}$/,
  'the member id, not the @name: profile, then "Copy member ID"',
);

const always = { when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null };

const approver = z
  .strictObject({
    name: anyText('a name', 'such as name: Ada'),
    telegram: telegramUser.optional(),
    slack: slackUser.optional(),
    namespaces: nonEmptyListOf(namespaceGlob, 'leave the key out for all that are watched').optional(),
    kubernetesUser: anyText('a Kubernetes user name', 'such as ada@example.com').optional(),
    kubernetesGroups: z.array(anyText('a group name', 'such as sre')).prefault([]),
  })
  .superRefine((person, context) => {
    if (person.telegram === undefined && person.slack === undefined)
      addIssue(context, { wrong: 'needs a telegram or slack id', hint: 'people are known by their id in chat' });
    if (person.kubernetesGroups?.length > 0 && person.kubernetesUser === undefined)
      addIssue(
        context,
        {
          wrong: 'kubernetesGroups needs kubernetesUser as well',
          hint: 'the API server is asked about a user and their groups',
        },
        ['kubernetesGroups'],
      );
  }, always);

type Approvers = z.output<typeof approver>[];

/** One person, one entry: which of two entries ruled would depend on their order. */
function reportTwins(approvers: Approvers, context: z.core.$RefinementCtx): void {
  for (const id of ['telegram', 'slack'] as const) {
    const first = new Map<unknown, number>();
    for (const [index, person] of approvers.entries()) {
      const value = person?.[id];
      if (typeof value !== 'number' && typeof value !== 'string') continue;
      const twin = first.get(value);
      if (twin === undefined) first.set(value, index);
      else
        addIssue(context, { wrong: `is the id of approvers[${twin}] as well`, hint: 'one entry per person' }, [
          index,
          id,
        ]);
    }
  }
}

export const approval = z
  .strictObject({
    ttl: duration('1m', '60m', { wholeMinutes: true }).prefault('30m'),
    confirm: z.array(oneOf(actionNames)).prefault(['DeleteResourceQuota']),
    approvers: z
      .array(approver)
      .superRefine(reportTwins, { when: ({ value }) => Array.isArray(value) })
      .prefault([]),
  })
  .prefault({});
