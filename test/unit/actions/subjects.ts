import type { Kind } from '../../../src/kube/resources.ts';
import { restartedAt } from '../../../src/kube/template-secrets.ts';
import {
  imageWorld,
  initImageWorld,
  podWorld,
  restartWorld,
  scaleWorld,
  stuckSetWorld,
  undoWorldOf,
} from '../controller/action-worlds.ts';
import { quotaWorld, template, undoWorld, type World } from '../controller/world.ts';

/** One action on one kind of target, and what of the target is its own. */
export interface Subject {
  type: string;
  make(): World;
  target: readonly [Kind, string];
  /** A change, by others, of what the action replaces. */
  otherwise: object;
  /** Paths in the target that it may change; none: the target goes. */
  owns: readonly string[];
  /** What is changed here GitOps would put back. */
  gitOps: boolean;
}

const deployment = ['Deployment', 'checkout'] as const;
const anotherTemplate = { spec: { template: template('shop/checkout:1.43') } };
const restart = (kind: 'Deployment' | 'StatefulSet' | 'DaemonSet'): Subject => ({
  type: 'RolloutRestart',
  make: restartWorld(kind),
  target: [kind, 'checkout'],
  otherwise: anotherTemplate,
  owns: [`spec.template.metadata.annotations.${restartedAt}`],
  gitOps: false,
});
const deletion = (kind: 'Deployment' | 'StatefulSet' | 'DaemonSet'): Subject => ({
  type: 'DeletePod',
  make: podWorld(kind),
  target: ['Pod', 'checkout-x2x4z'],
  otherwise: { spec: { containers: [{ name: 'app', image: 'another:1' }] } },
  owns: [],
  gitOps: false,
});
const undo = (make: () => World, kind: 'Deployment' | 'StatefulSet' | 'DaemonSet'): Subject => ({
  type: 'RolloutUndo',
  make,
  target: [kind, 'checkout'],
  otherwise: { spec: { template: { metadata: { labels: { tier: 'other' } } } } },
  owns: ['spec.template.spec'],
  gitOps: true,
});

export const subjects: Readonly<Record<string, Subject>> = {
  DeleteResourceQuota: {
    type: 'DeleteResourceQuota',
    make: quotaWorld,
    target: ['ResourceQuota', 'tight'],
    otherwise: { spec: { hard: { pods: '2' } } },
    owns: [],
    gitOps: true,
  },
  PatchDeploymentImage: {
    type: 'PatchDeploymentImage',
    make: imageWorld,
    target: deployment,
    otherwise: anotherTemplate,
    owns: ['spec.template.spec.containers.0.image'],
    gitOps: true,
  },
  'PatchDeploymentImage of an init container': {
    type: 'PatchDeploymentImage',
    make: initImageWorld,
    target: deployment,
    otherwise: { spec: { template: { spec: { initContainers: [{ name: 'migrate', image: 'shop/migrate:2' }] } } } },
    owns: ['spec.template.spec.initContainers.1.image'],
    gitOps: true,
  },
  ScaleDeployment: {
    type: 'ScaleDeployment',
    make: scaleWorld,
    target: deployment,
    otherwise: { spec: { replicas: 12 } },
    owns: ['spec.replicas'],
    gitOps: true,
  },
  'RolloutRestart of a Deployment': restart('Deployment'),
  'RolloutRestart of a StatefulSet': restart('StatefulSet'),
  'RolloutRestart of a DaemonSet': restart('DaemonSet'),
  'DeletePod of a Deployment': deletion('Deployment'),
  'DeletePod of a StatefulSet': deletion('StatefulSet'),
  'DeletePod of a DaemonSet': deletion('DaemonSet'),
  'RolloutUndo of a Deployment': undo(undoWorld, 'Deployment'),
  'RolloutUndo of a StatefulSet': undo(undoWorldOf('StatefulSet'), 'StatefulSet'),
  'RolloutUndo of a StatefulSet that waits': undo(stuckSetWorld, 'StatefulSet'),
  'RolloutUndo of a DaemonSet': undo(undoWorldOf('DaemonSet'), 'DaemonSet'),
};
