/**
 * The ConfigMaps that hold which revisions were seen healthy, in tapfix's own namespace. Each role has its own, because
 * the controller must not believe the watcher.
 */
export type HistoryRole = 'watcher' | 'controller';

export const historyShards = 4;
export const historyKey = 'revisions';
/** The bound of one map: more than 5,000 revisions, and well below the 1 MiB that a ConfigMap may have. */
export const mostCharacters = 600_000;

export const historyName = (role: HistoryRole, shard: number): string => `tapfix-${role}-history-${shard}`;
export const historyNames = (role: HistoryRole): string[] =>
  Array.from({ length: historyShards }, (_, shard) => historyName(role, shard));
