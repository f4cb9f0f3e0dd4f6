import { bookLines, type Books, faultsIn } from './books.ts';
import { type Plan, planLines } from './plan.ts';

/** One run, as it is reported: plain data, so that it can come from another process. */
export interface Report {
  form: 'virtual' | 'real';
  seed: number;
  /** Nothing: the books balance. */
  wrong: string[];
  plan: string[];
  books: string[];
  counts: Record<string, number>;
  cpuMs: number;
}

/** What was done to the processes, and what came of it. */
export interface Struck {
  kills: number;
  pauses: number;
  /** How often a replica began to lead. */
  terms: number;
  /** Messages that came again, because nobody had recorded that they had been posted. */
  repeated: number;
}

export interface Outcome {
  plan: Plan;
  books: Books;
  /** What went wrong, by kind, and how often. */
  faults: ReadonlyMap<string, number>;
  struck: Struck;
}

export function reportOf(
  form: Report['form'],
  { plan, books, faults, struck, cpuMs }: Outcome & { cpuMs: number },
): Report {
  const { incidents, executions, posts } = books;
  const done = {
    runs: 1,
    incidents: incidents.length,
    executions: executions.length,
    posts: posts.length,
    ...struck,
  };
  return {
    form,
    seed: plan.seed,
    wrong: faultsIn(books),
    plan: planLines(plan),
    books: bookLines(books),
    counts: { ...done, ...Object.fromEntries([...faults].map(([what, times]) => [`fault ${what}`, times])) },
    cpuMs,
  };
}

export const replayCommand = ({ form, seed }: Pick<Report, 'form' | 'seed'>): string =>
  `npm run test:faults -- --${form} --seed ${seed}`;

const indented = (lines: readonly string[]): string[] => lines.map((line) => `    ${line}`);

/** A run that failed: its seed, the faults in their order, the books, and how to repeat it. */
export const failureLines = (report: Report): string[] => [
  `FAILED ${report.form} run, seed ${report.seed}`,
  ...report.wrong.map((line) => `  * ${line}`),
  '  what happened',
  ...indented(report.plan),
  '  the books',
  ...indented(report.books),
  `  to repeat it: ${replayCommand(report)}`,
  '',
];

export function sumOf(reports: readonly Report[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const { counts } of reports)
    for (const [what, times] of Object.entries(counts)) sum[what] = (sum[what] ?? 0) + times;
  return sum;
}
