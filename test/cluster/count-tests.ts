export interface Count {
  passed: number;
  failed: number;
}

/** What node's test runner counted in its closing lines; undefined if it did not come to its end. */
export function countTests(output: string): Count | undefined {
  const last = (word: string): number | undefined => {
    const found = [...output.matchAll(new RegExp(`^(?:ℹ|#) ${word} (\\d+)$`, 'gm'))].at(-1);
    return found && Number(found[1]);
  };
  const [tests, passed] = [last('tests'), last('pass')];
  // Cancelled, skipped and unfinished ones have not passed either.
  return tests === undefined || passed === undefined ? undefined : { passed, failed: tests - passed };
}
