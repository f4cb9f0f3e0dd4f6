import type { TestContext } from 'node:test';
import type { KubeObject } from '../../../src/kube/api.ts';
import { type Change, createWatch, type Watch, type WatchDeps } from '../../../src/kube/watch.ts';
import type { Log } from '../../../src/lib/log.ts';
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts';
import type { Step } from '../../support/scripted-server.ts';
import { aPod, eventually, type Rig, rig } from './support.ts';

export interface LogLine {
  level: string;
  message: string;
  fields: Record<string, unknown>;
}

export interface WatchRig extends Rig {
  clock: FakeClock;
  watch: Watch;
  lists: string[][];
  /** "+name" for an upsert, "-name" for one that is gone. */
  changes: string[];
  logged: LogLine[];
  /** Warnings and worse, and good news: what an operator sees. */
  told(): string[];
  /** "list", "list continue=x", "watch 10": what was asked for, in order. */
  asked(): string[];
  stop(): void;
  ended: Promise<void>;
  /** Lets time pass in small steps until it is true. */
  until(isTrue: () => boolean): Promise<void>;
}

/** A running watch of pods over a scripted server; it views each pod as its name. */
export async function watchRig(
  t: TestContext,
  steps: readonly Step[],
  over: Partial<WatchDeps<string>> = {},
): Promise<WatchRig> {
  const { server, api } = await rig(t, { retry: false }); // what is repeated here is repeated by the watch
  const clock = fakeClock();
  const lists: string[][] = [];
  const changes: string[] = [];
  const logged: LogLine[] = [];
  const stopping = new AbortController();
  server.script(...steps);
  const watch = createWatch<string>({
    api,
    clock,
    log: recorder(logged),
    kind: 'Pod',
    view: ({ metadata }: KubeObject) => (metadata.labels?.['boring'] ? undefined : metadata.name),
    onList: (views) => void lists.push(views),
    onChange: (change) => void changes.push(spoken(change)),
    random: () => 0,
    ...over,
  });
  const ended = watch.run(stopping.signal);
  const stop = (): void => stopping.abort();
  t.after(async () => {
    stop();
    await ended;
  });
  const asked = (): string[] =>
    server.seen.map(({ query }) =>
      query['watch'] ? `watch ${query['resourceVersion']}` : query['continue'] ? `list ${query['continue']}` : 'list',
    );
  const told = (): string[] =>
    logged.filter(({ level }) => level !== 'debug').map(({ level, message }) => `${level}: ${message}`);
  const until = (isTrue: () => boolean): Promise<void> => eventually(isTrue, () => clock.advance(100));
  return { server, api, clock, watch, lists, changes, logged, told, asked, stop, ended, until };
}

const spoken = (change: Change<string>): string =>
  change.type === 'upsert' ? `+${change.view}` : `-${change.namespace}/${change.name}/${change.uid}`;

export const recorder = (lines: LogLine[]): Log => {
  const at =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push({ level, message, fields: { ...fields } });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
};

export const added = (name: string, version: string): object => ({ type: 'ADDED', object: aPod(name, version) });
export const deleted = (name: string, version: string): object => ({ type: 'DELETED', object: aPod(name, version) });
export const bookmark = (resourceVersion: string): object => ({
  type: 'BOOKMARK',
  object: { kind: 'Pod', metadata: { resourceVersion } },
});
export const errorLine = (code: number, message: string): object => ({
  type: 'ERROR',
  object: { kind: 'Status', code, message },
});
