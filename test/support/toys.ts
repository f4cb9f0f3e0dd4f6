import type { Config } from '../../src/config/schema.ts';
import type { LiveHealth } from '../../src/health/trouble.ts';
import { gone } from '../../src/health/workload-health.ts';
import type { ActionSpec } from '../../src/kube/remediation.ts';
import type { Kind } from '../../src/kube/resources.ts';
import type { Signal } from '../../src/signals/signal.ts';
import { aStreet } from './street.ts';

/**
 * Street 1 on workloads that are as sick as the test says: what is true of each of them, and what would help, is set by
 * hand. For rules about incidents; that readings and fixes are right is tested where they are made.
 */
export function aToyStreet(over: Partial<Config> = {}) {
  const sick = new Map<string, Partial<LiveHealth>>(); // "Deployment/api"
  const fixes = new Map<string, ActionSpec>();
  const readings: string[] = [];
  /** Called when it was read, before the answer arrives. */
  const hooks: { read?: () => Promise<void> } = {};
  const changed = new Set<string>(); // names of workloads whose target is not what was shown
  const healthOf = (kind: string, name: string): LiveHealth => {
    const own = sick.get(`${kind}/${name}`);
    const ready = own ? { ready: 0, desired: 1 } : { ready: 1, desired: 1 };
    return { ...gone, gone: false, healthy: own === undefined, why: own ? 'sick' : '', ...ready, ...own };
  };
  const street = aStreet(over, {
    readHealth: async ({ object, namespace }) => {
      readings.push(object.name);
      const isThere =
        ['Node', 'StorageClass'].includes(object.kind) ||
        street.server.get(object.kind as Kind, namespace, object.name) !== undefined;
      const live = isThere ? healthOf(object.kind, object.name) : gone;
      await hooks.read?.();
      return live;
    },
    derive: async ({ class: failureClass, object }) => {
      const action = fixes.get(object.name);
      return { diagnosis: failureClass, changed: [], evidence: [], rationale: 'r', ...(action && { action }) };
    },
    hasTargetChanged: async ({ spec }) => changed.has(spec.incident.object.name),
  });

  function workload(
    name: string,
    kind: Kind = 'Deployment',
    namespace = 'shop',
  ): { kind: Kind; name: string; uid: string } {
    const there =
      street.server.get(kind, namespace, name) ?? street.server.seed(kind, namespace, { metadata: { name } });
    return { kind, name, uid: there.metadata.uid };
  }

  return {
    ...street,
    workload,
    readings,
    hooks,
    /** From now on this is what is wrong with it; nothing: it is healthy. */
    is(name: string, troubles: string[], more: Partial<LiveHealth> & { kind?: string } = {}): void {
      const { kind = 'Deployment', ...rest } = more;
      if (troubles.length > 0) sick.set(`${kind}/${name}`, { troubles, ...rest });
      else sick.delete(`${kind}/${name}`);
    },
    helps(name: string, action: ActionSpec | undefined): void {
      if (action) fixes.set(name, action);
      else fixes.delete(name);
    },
    changes: (name: string): void => void changed.add(name),
    /** Somebody saw this class on it. */
    signal: (failureClass: string, name: string, extra: Partial<Signal> = {}): Signal => ({
      class: failureClass,
      namespace: 'shop',
      object: workload(name),
      reason: `${failureClass}Reason`,
      message: `${name} has ${failureClass}`,
      ...extra,
    }),
    /** Class and phase of each Remediation, in the order of their creation, with its action. */
    told: (): string[] =>
      street
        .fixes()
        .map(({ spec, metadata }) =>
          [
            spec.incident.class,
            metadata.name.replace(/-[0-9a-f]{6}-/, ' '),
            spec.action?.type,
            spec.follows && `after ${spec.follows.name.slice(-1)}`,
          ]
            .filter(Boolean)
            .join(' '),
        ),
  };
}
export type ToyStreet = ReturnType<typeof aToyStreet>;

export const undoTo = (name: string, toRevision: number): ActionSpec => ({
  type: 'RolloutUndo',
  rolloutUndo: { kind: 'Deployment', name, uid: 'u', toRevision },
});
