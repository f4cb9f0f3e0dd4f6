export type Lock = <T>(work: () => Promise<T>) => Promise<T>;

/** One at a time, in the order of asking; a failure of one does not concern the next. */
export function createLock(): Lock {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}
