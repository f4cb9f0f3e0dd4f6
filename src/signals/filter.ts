import type { Config } from '../config/schema.ts';
import { isSelected } from '../config/selection.ts';
import { isMuted } from '../kube/mutes.ts';
import { globMatches, isLiteral, matchesAny } from '../lib/glob.ts';
import { SignalOutcome } from './signal.ts';

/**
 * If all names are literal, only those namespaces are watched, so that a Role in each is enough. Otherwise the whole
 * cluster.
 */
export function watchScopes({ namespaces }: Config): (string | undefined)[] {
  const { include, exclude } = namespaces;
  if (!include.every(isLiteral)) return [undefined];
  return [...new Set(include)].filter((name) => !matchesAny(exclude, name));
}

export interface Named {
  class: string;
  namespace: string;
  kind: string;
  name: string;
}

/** A configuration, and the globs that people muted in chat for a while. */
export type Rules = Config & { muted?: readonly string[] };

/** Kept, or dropped with the reason that is counted. */
export function filterOutcome(config: Rules, subject: Named, ownNamespace: string): SignalOutcome {
  // An object without a namespace (a Node) sends its own signals only where "*" is watched. Elsewhere its incident is
  // opened only when an object in a watched namespace is affected.
  if (!isSelected(config, subject.namespace, ownNamespace)) return SignalOutcome.namespaceNotSelected;
  if (config.classes[subject.class]?.enabled === false) return SignalOutcome.classDisabled;
  if (isMuted(config.muted ?? [], subject)) return SignalOutcome.muted;
  const fits = (glob: string | undefined, value: string): boolean => glob === undefined || globMatches(glob, value);
  const ignored = config.ignore.some(
    (rule) =>
      fits(rule.namespace, subject.namespace) &&
      fits(rule.kind, subject.kind) &&
      fits(rule.name, subject.name) &&
      fits(rule.class, subject.class),
  );
  return ignored ? SignalOutcome.ignoredByRule : SignalOutcome.kept;
}
