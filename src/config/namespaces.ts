import { z } from 'zod';
import { covers } from '../lib/glob.ts';
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
