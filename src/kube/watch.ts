import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Api, KubeObject } from './api.ts';
import type { Kind } from './resources.ts';

export type Change<V> = { type: 'upsert'; view: V } | { type: 'gone'; namespace: string; name: string; uid: string };

export interface WatchDeps<V> {
  api: Api;
  clock: Clock;
  log: Log;
  kind: Kind;
  namespace?: string;
  fieldSelector?: string;
  /** The slim projection; undefined = nobody needs this object. It is called once per object, at the edge. */
  view(object: KubeObject): V | undefined;
  /** A whole list was read: everything that exists now. Comes first, and again after each relist. */
  onList(views: V[]): void;
  onChange(change: Change<V>): void;
}

export interface Watch {
  /** Milliseconds since the server last said anything (a line, a bookmark, an answered list); Infinity before the first. */
  silentMs(): number;
  /** Whether the first list was read. */
  synced(): boolean;
  run(signal: AbortSignal): Promise<void>;
}

export declare function createWatch<V>(deps: WatchDeps<V>): Watch;
