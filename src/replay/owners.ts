import { ownerByName } from '../incidents/generated-name.ts';
import type { Root } from '../incidents/owner.ts';
import type { EventView } from '../kube/views.ts';

interface Owner {
  kind: string;
  name: string;
}

/** Controllers say whom they made: https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/controller_utils.go */
const makers: readonly { reason: string; kinds: readonly string[]; made: string; words: RegExp }[] = [
  { reason: 'SuccessfulCreate', kinds: ['ReplicaSet', 'DaemonSet', 'Job'], made: 'Pod', words: /^Created pod: (\S+)/ },
  { reason: 'SuccessfulCreate', kinds: ['StatefulSet'], made: 'Pod', words: /^create Pod (\S+) in StatefulSet / },
  { reason: 'SuccessfulCreate', kinds: ['CronJob'], made: 'Job', words: /^Created job (\S+)/ },
  { reason: 'ScalingReplicaSet', kinds: ['Deployment'], made: 'ReplicaSet', words: /^Scaled up replica set (\S+) / },
];

const longestChain = 5;
const idOf = (namespace: string, { kind, name }: Owner): string => `${namespace}/${kind}/${name}`;

/** Pure. Whose something is, without a cluster to ask: by what the recording itself tells, and then by names. */
export function createOwnersOf(events: readonly EventView[]) {
  const made = new Map<string, Owner>();
  for (const { object, reason, message } of events) {
    for (const maker of makers) {
      const [, name] =
        (maker.reason === reason && maker.kinds.includes(object.kind) && maker.words.exec(message)) || [];
      if (name) made.set(idOf(object.namespace, { kind: maker.made, name }), object);
    }
  }
  return (namespace: string, object: Root, nowMs: number): Root => {
    let root: Owner = object;
    for (let depth = 0; depth < longestChain; depth++) {
      const above = made.get(idOf(namespace, root)) ?? ownerByName(root.kind, root.name, nowMs);
      if (!above) break;
      root = above;
    }
    return root === object ? object : { kind: root.kind, name: root.name, uid: '' };
  };
}
export type OwnersOf = ReturnType<typeof createOwnersOf>;
