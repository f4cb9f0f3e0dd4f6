import type { Watch } from '../../src/kube/watch.ts';
import { createSignalSource, type SourceDeps } from '../../src/signals/source.ts';

export type Watches = Record<string, Watch[]>;

/** All that a configuration asks for, from the start. */
export function watchSignals({ scopes, ...deps }: SourceDeps & { scopes: readonly (string | undefined)[] }): Watches {
  const source = createSignalSource(deps);
  const watches: Watches = {};
  const add = (name: string, watch: Watch): void => void (watches[name] ??= []).push(watch);
  for (const scope of scopes) {
    for (const [name, watch] of Object.entries(source.inScope(scope, 'start'))) add(name, watch);
    if (deps.current().extraReasons.length > 0) add('other-events', source.otherEvents(scope, 'start'));
  }
  for (const [name, watch] of Object.entries(source.ofCluster())) add(name, watch);
  return watches;
}
