import assert from 'node:assert/strict';
import type { Config } from '../../../src/config/schema.ts';
import { createHistory } from '../../../src/health/history.ts';
import { type Api, ApiError, type KubeObject, type Page, type WatchLine } from '../../../src/kube/api.ts';
import { revisionWatches } from '../../../src/signals/source.ts';
import { watchSignals } from '../../support/watch-signals.ts';
import { aConfig } from '../../support/config.ts';
import { fakeClock } from '../../support/fake-clock.ts';

export interface SourceOptions {
  config?: Partial<Config>;
  scopes?: (string | undefined)[];
  /** Kinds that may not be listed. */
  forbidden?: Set<string>;
  pageSize?: number;
}

/** One list of each kind, then what the watch is told to say. */
export function aSource(listed: Record<string, object[]>, options: SourceOptions = {}) {
  const { scopes = [undefined], forbidden = new Set<string>(), pageSize = 1_000 } = options;
  const clock = fakeClock();
  const requests: string[] = [];
  const tell = new Map<string, (line?: WatchLine) => void>();
  const api = {
    async page(kind: string, namespace: string | undefined, query: Record<string, string>): Promise<Page<KubeObject>> {
      requests.push([kind, namespace, query['fieldSelector']].filter(Boolean).join(' '));
      if (forbidden.has(kind)) throw new ApiError('no', 403, 'Forbidden');
      const isOther = query['fieldSelector'] === 'type!=Warning';
      const of = listed[kind] ?? [];
      const items = of.filter((one) => kind !== 'Event' || ((one as { type: string }).type !== 'Warning') === isOther);
      const from = Number(query['continue'] ?? 0);
      const next = from + pageSize < items.length ? { continue: String(from + pageSize) } : {};
      return { items: items.slice(from, from + pageSize) as KubeObject[], metadata: { resourceVersion: '1', ...next } };
    },
    async *watch(
      kind: string,
      _namespace: string,
      query: Record<string, string>,
      signal: AbortSignal,
    ): AsyncIterable<WatchLine> {
      while (!signal.aborted) {
        const line = await new Promise<WatchLine | undefined>((resolve) => {
          tell.set(`${kind}${query['fieldSelector'] === 'type!=Warning' ? ' (other)' : ''}`, resolve);
          signal.addEventListener('abort', () => resolve(undefined));
        });
        if (line) yield line;
      }
    },
  } as unknown as Api;
  const logged: string[] = [];
  const log = {
    debug() {},
    info: ({ kind }: { kind?: string }, message: string) => void logged.push(`${kind}: ${message}`),
    warn: ({ kind }: { kind?: string }, message: string) => void logged.push(`${kind}: ${message}`),
    error: () => assert.fail('nothing is wrong'),
  };
  const history = createHistory();
  const signals: string[] = [];
  const counted: string[] = [];
  const config = aConfig(options.config);
  const watches = watchSignals({
    api,
    clock,
    log,
    scopes,
    current: () => config,
    onSignal: ({ class: failureClass, object, cause, listed }) =>
      void signals.push(
        `${failureClass} ${object.name}${cause ? ` by ${cause.kind}/${cause.name}` : ''}${listed ? ' (listed)' : ''}`,
      ),
    count: (outcome) => void counted.push(outcome),
  });
  const stop = new AbortController();
  const all = [
    ...Object.values(watches).flat(),
    ...Object.values(revisionWatches).map((watchOf) => watchOf({ api, clock, log, namespace: undefined, history })),
  ];
  for (const watch of all) void watch.run(stop.signal);

  async function line(kind: string, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: object): Promise<void> {
    tell.get(kind)!({ type, object: object as KubeObject });
    await clock.advance(0);
  }
  return { clock, requests, logged, signals, counted, history, watches, line, stop: () => stop.abort() };
}

export const meta = (name: string) => ({
  name,
  namespace: 'shop',
  uid: `u-${name}`,
  resourceVersion: '1',
  creationTimestamp: '2026-11-16T03:00:00Z',
});
