import type { Config } from '../config/schema.ts';
import { isSelected } from '../config/selection.ts';
import { isBeingFixed, isProposedFrom, phaseOf, type Remediation } from '../kube/remediation.ts';
import type { Scope } from '../kube/feed.ts';
import type { Watch } from '../kube/watch.ts';
import { sameValue } from '../lib/hash.ts';
import { watchScopes } from '../signals/filter.ts';
import { clusterWatches, revisionWatches, scopedWatches, type SignalSource } from '../signals/source.ts';
import type { Ground } from './app.ts';
import type { WatchRegistry } from './watch-registry.ts';

/* What is watched follows the configuration: called at the start, and again whenever it has changed. */

/** Opens what is wanted and not there, closes what is there and not wanted. */
function adjust(
  watchRegistry: WatchRegistry,
  name: string,
  wanted: readonly Scope[],
  {
    open,
    close,
  }: { open(scope: Scope): { watch: Watch; after?: Promise<unknown> | undefined }; close?(scope: Scope): void },
): void {
  const there = watchRegistry.scopesOf(name);
  for (const scope of there.filter((one) => !wanted.includes(one))) {
    watchRegistry.close(name, scope);
    close?.(scope);
  }
  for (const scope of wanted.filter((one) => !there.includes(one))) {
    const { watch, after } = open(scope);
    watchRegistry.open(name, scope, watch, after);
  }
}

/** Incidents of cluster-scoped objects (a Node, a StorageClass) are kept in our own namespace, so it is watched too. */
export function fixScopes(config: Config, ownNamespace: string): Scope[] {
  const scopes = watchScopes(config);
  return scopes.includes(undefined) ? [undefined] : [...new Set([...scopes, ownNamespace])];
}

/** A fix that is under way in a namespace that is no longer watched is still followed to its end. */
export function adjustFixWatches({ fixes, watchRegistry, current, ownNamespace }: Ground): void {
  const wanted = fixScopes(current(), ownNamespace);
  const isOurs = (fix: Remediation): boolean => isBeingDone(fix) && isProposedFrom(fix, ownNamespace);
  const busy = wanted.includes(undefined) ? [] : fixes.store.all().filter(isOurs);
  adjust(watchRegistry, 'remediations', [...new Set([...wanted, ...busy.map(({ metadata }) => metadata.namespace)])], {
    open: (scope) => ({ watch: fixes.feed.open(scope) }),
    close: (scope) => fixes.feed.close(scope),
  });
}

const isBeingDone = (fix: Remediation): boolean =>
  isBeingFixed(fix) || (phaseOf(fix) === 'Proposed' && fix.spec.approval.state === 'Approved');

/** `after`: at the start, when what earlier processes saw is known. */
export function adjustRevisionWatches(ground: Ground, after?: Promise<void>): void {
  const { watchRegistry, current, clock } = ground;
  const unseenSinceMs = watchRegistry.scopesOf('revisions').length > 0 ? clock.now() : undefined;
  for (const [name, watchOf] of Object.entries(revisionWatches))
    adjust(watchRegistry, name, watchScopes(current()), {
      open: (namespace) => ({ watch: watchOf({ ...ground, namespace, unseenSinceMs }), after }),
    });
}

/** Whether something that was not worth a word is by now, or the other way round. */
export const noticesOtherwise = (before: Config, now: Config): boolean =>
  (['namespaces', 'classes', 'ignore', 'extraReasons'] as const).some((key) => !sameValue(before[key], now[key]));

/** Opens and closes what is watched for signals; later everything that stays is told once more as well. */
export function adjustSignalWatches(
  ground: Ground,
  source: SignalSource,
  { when, after: known }: { when: 'start' | 'later'; after?: Promise<void> },
): void {
  const { watchRegistry, fixes, current, ownNamespace } = ground;
  const config = current();
  const wanted = watchScopes(config);
  const there = watchRegistry.scopesOf('events');
  for (const scope of there.filter((one) => !wanted.includes(one)))
    for (const name of scopedWatches) watchRegistry.close(name, scope);
  source.forgetNamespaces((namespace) => !isSelected(config, namespace, ownNamespace));
  for (const name of [...scopedWatches, ...clusterWatches, 'other-events'])
    if (when === 'later') watchRegistry.relist(name);
  const after = (scope: Scope): Promise<void> | undefined => (when === 'later' ? fixes.feed.listedIn(scope) : known);
  for (const scope of wanted.filter((one) => !there.includes(one)))
    for (const [name, watch] of Object.entries(source.inScope(scope, when)))
      watchRegistry.open(name, scope, watch, after(scope));
  adjust(watchRegistry, 'other-events', config.extraReasons.length > 0 ? wanted : [], {
    open: (scope) => ({ watch: source.otherEvents(scope, when), after: after(scope) }),
  });
}
