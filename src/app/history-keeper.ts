import { decodeSeen, encodeSeen, isWorthWriting, shardOf } from '../health/history-text.ts';
import type { Heard, History, RunningRevision, SeenRevision } from '../health/history.ts';
import { type Api, isConflict, type KubeObject } from '../kube/api.ts';
import { historyKey, historyName, type HistoryRole, historyShards } from '../kube/history-maps.ts';
import { viewReplicaSet } from '../kube/views.ts';
import { NotLeading } from '../kube/lease.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';

interface HistoryKeeperDeps {
  api: Pick<Api, 'get'>;
  clock: Clock;
  log: Log;
  /** tapfix's own. */
  namespace: string;
  role: HistoryRole;
  history: History;
  /** Whether what is read is added to the history. */
  believes?: boolean;
  heard(): Heard;
  /** How long a revision must have been healthy to count as such: one that just has is written soon. */
  stableForMs(): number;
}

/** Keeps what was seen of revisions in the role's ConfigMaps, so that it survives a restart and a change of the leader. */
export interface HistoryKeeper {
  /** Adds what is kept to what this process has seen. It never fails: tapfix works without it. */
  load(): Promise<void>;
  /**
   * Only the leader runs it. Reads what the leader before wrote, then writes what has changed, each ConfigMap at most once
   * a minute; once more when the signal aborts. `writer` refuses to write when this process no longer leads.
   */
  run(signal: AbortSignal, writer: Pick<Api, 'patch'>): Promise<void>;
}

type ConfigMap = KubeObject & { data?: Record<string, string> };

/** One ConfigMap, as it was last read or written. */
interface Shard {
  index: number;
  name: string;
  /** Absent until it was read: nothing is written over what is not known. */
  version?: string | undefined;
  written: Map<string, SeenRevision>;
  isMissing: boolean;
  /** It holds lines that are not ours. */
  isSpoilt: boolean;
  /** When it may be written again. */
  notBeforeMs: number;
}

const lookEveryMs = 5_000;
const writeEveryMs = 60_000;
const mostTries = 3;
/** So many revisions of a map are read at a time. */
const mostConfirmed = 20;

export function createHistoryKeeper({
  api,
  clock,
  log,
  namespace,
  role,
  history,
  believes = true,
  heard,
  stableForMs,
}: HistoryKeeperDeps): HistoryKeeper {
  const shards = Array.from({ length: historyShards }, (_, index): Shard => ({
    index,
    name: historyName(role, index),
    written: new Map(),
    isMissing: false,
    isSpoilt: false,
    notBeforeMs: 0,
  }));
  const isSaid = { missing: false, failed: false };
  const belongs = ({ index }: Shard, uid: string): boolean => shardOf(uid, historyShards) === index;
  const refOf = ({ name }: Shard) => ({ kind: 'ConfigMap', namespace, name }) as const;

  async function read(shard: Shard): Promise<void> {
    const map = await api.get<ConfigMap>(refOf(shard));
    shard.version = map?.metadata.resourceVersion;
    shard.isMissing = map === undefined;
    const text = map?.data?.[historyKey] ?? '';
    const { seen, dropped } = decodeSeen(text, { nowMs: clock.now(), belongs: (uid) => belongs(shard, uid) });
    shard.isSpoilt = dropped > 0;
    shard.written = new Map(seen.map((one) => [one.uid, one]));
    if (believes) history.restore(seen);
    if (dropped > 0)
      log.warn({ configMap: shard.name, dropped }, 'history has lines that tapfix did not write, dropped');
  }

  function hasChanged({ written, isSpoilt }: Shard, now: readonly RunningRevision[], isLast: boolean): boolean {
    if (isSpoilt || now.length < written.size) return true;
    return now.some((one) =>
      isWorthWriting(written.get(one.uid), isLast ? { ...one, isRunning: false } : one, stableForMs()),
    );
  }

  /** Reads what counts as healthy only if nothing has happened since its watch was last heard. */
  async function confirm(shard: Shard): Promise<void> {
    const times = { untilMs: heard().replicaSets, nowMs: clock.now(), stableForMs: stableForMs() };
    const doubtful = history.doubtful(times).filter(({ uid }) => belongs(shard, uid));
    await Promise.all(
      doubtful.slice(0, mostConfirmed).map(async ({ namespace: theirs, name, uid }) => {
        const found = await api.get<KubeObject>({ kind: 'ReplicaSet', namespace: theirs, name });
        const view = found && viewReplicaSet(found);
        if (view?.uid === uid) history.observe(view, clock.now());
      }),
    );
  }

  /** Whoever wrote in between was the leader before us, or is the one after us: what they wrote is kept. */
  async function write(shard: Shard, writer: Pick<Api, 'patch'>, isLast: boolean, tried = 1): Promise<void> {
    const { text, kept } = encodeSeen(history.seen(heard()).filter(({ uid }) => belongs(shard, uid)));
    if (shard.version === undefined || !hasChanged(shard, kept, isLast)) return;
    shard.notBeforeMs = clock.now() + writeEveryMs;
    const body = { metadata: { resourceVersion: shard.version }, data: { [historyKey]: text } };
    try {
      const { metadata } = await writer.patch<ConfigMap>(refOf(shard), 'merge', body);
      Object.assign(shard, { version: metadata.resourceVersion, isSpoilt: false });
      shard.written = new Map(kept.map((one) => [one.uid, one]));
    } catch (error) {
      shard.version = undefined; // whatever became of it is read before the next write
      if (!isConflict(error)) throw error;
      if (tried === mostTries) return;
      await read(shard);
      await write(shard, writer, isLast, tried + 1);
    }
  }

  /** Does it for every shard. A failure is said once, until it works again. */
  async function forEach(work: (shard: Shard) => Promise<void>): Promise<void> {
    const results = await Promise.allSettled(shards.map(work));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed && !isSaid.failed && !(failed.reason instanceof NotLeading))
      log.warn({ reason: messageOf(failed.reason) }, 'history not read or written, trying again');
    isSaid.failed = failed !== undefined;
    if (!failed) sayWhatIsMissing();
  }

  function sayWhatIsMissing(): void {
    const missing = shards.filter(({ isMissing }) => isMissing).map(({ name }) => name);
    if (missing.length > 0 && !isSaid.missing)
      log.warn({ namespace, missing }, 'history has no ConfigMaps, apply the manifests again');
    isSaid.missing = missing.length > 0;
  }

  const save = (writer: Pick<Api, 'patch'>, isLast: boolean): Promise<void> =>
    forEach(async (shard) => {
      if (!isLast && clock.now() < shard.notBeforeMs) return;
      if (shard.version === undefined) await read(shard);
      await confirm(shard);
      await write(shard, writer, isLast);
    });

  return {
    load: () => forEach(read),
    async run(signal, writer) {
      await forEach(read);
      for (;;) {
        await clock.sleep(lookEveryMs, signal);
        const isLast = signal.aborted;
        await save(writer, isLast);
        if (isLast) return;
      }
    },
  };
}
