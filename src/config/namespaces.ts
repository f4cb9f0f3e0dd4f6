import { z } from 'zod';
import { globMatches } from '../lib/glob.ts';
import { addIssue, namespaceGlob, nonEmptyListOf } from './fields.ts';

export const namespaces = z
  .strictObject({
    include: nonEmptyListOf(namespaceGlob, 'for all namespaces write ["*"]'),
    exclude: z.array(namespaceGlob).prefault([]),
  })
  .superRefine(({ include, exclude }, context) => {
    if (include.length > 0 && include.every((pattern) => exclude.some((glob) => covers(glob, pattern))))
      addIssue(context, { wrong: 'leaves nothing to watch', hint: 'every pattern of include is excluded' }, [
        'exclude',
      ]);
  })
  // Then what is missing is the key in it.
  .prefault({} as { include: string[] });

/** A letter that no pattern names, and more of it than a pattern is long: only a star matches such a run. */
const runs = ['', '!'.repeat(254)];

/** Whether the glob matches whatever the pattern does. */
const covers = (glob: string, pattern: string): boolean =>
  runs.every((run) => globMatches(glob, pattern.replaceAll('*', run).replaceAll('?', '!')));
