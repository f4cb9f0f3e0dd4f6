import { z } from 'zod';
import type { Times } from '../notices/times.ts';
import { clause } from './verdict.ts';

const entry = z.object({ class: z.string(), reason: z.string(), count: z.number() });
const pageSchema = z.object({
  waiting: z.array(entry.extend({ since: z.string() })),
  outcomes: z.array(entry.extend({ outcome: z.string(), first: z.string(), last: z.string(), incident: z.string().optional() })), // prettier-ignore
});
export type LedgerPage = z.infer<typeof pageSchema>;

/** undefined: whoever answered is no watcher of ours. */
export const pageOf = (answer: unknown): LedgerPage | undefined => pageSchema.safeParse(answer).data;

const mostLines = 6;

/** Pure. The last outcomes, newest first. */
export function ledgerLines({ waiting, outcomes }: LedgerPage, times: Times): string[] {
  const what = (one: z.infer<typeof entry>): string =>
    `${clause(one.class, 64)} (${clause(one.reason, 64)})${one.count > 1 ? `, ${one.count} times` : ''}`;
  const lines = [
    ...waiting.map((one) => `waits since ${times.at(one.since)} for its patience and a fresh reading: ${what(one)}`),
    ...outcomes.map(({ outcome, last, incident, ...one }) => {
      const where = incident ? `, as part of ${clause(incident)}` : '';
      return `${times.at(last)} ${clause(outcome, 64)}: ${what(one)}${where}`;
    }),
  ];
  return lines.length > 0 ? lines.slice(0, mostLines) : ['has seen nothing of it since it started'];
}
