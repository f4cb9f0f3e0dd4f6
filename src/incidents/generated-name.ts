/**
 * Owners read from names, for objects that are already gone. Only suffixes that Kubernetes itself could have
 * generated for that kind are stripped: its alphabet has no vowels and no 0, 1 or 3, and a template's hash is a
 * number whose ten digits become ten of its letters, so neither `payments-worker` nor `web-grpcsvr` loses its end.
 * https://github.com/kubernetes/apimachinery/blob/master/pkg/util/rand/rand.go (SafeEncodeString)
 */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
const digits = '456789bcdf';
const deploymentsReplicaSet = new RegExp(`^(.+)-[${digits}]{6,10}$`);
const deploymentsPod = new RegExp(`^(.+)-[${digits}]{6,10}-[${letters}]{5}$`);

export interface NamedOwner {
  kind: string;
  name: string;
}

/** undefined: the name alone does not tell. */
export function ownerByName(kind: string, name: string): NamedOwner | undefined {
  const pattern = kind === 'Pod' ? deploymentsPod : kind === 'ReplicaSet' ? deploymentsReplicaSet : undefined;
  const owner = pattern?.exec(name)?.[1];
  return owner ? { kind: 'Deployment', name: owner } : undefined;
}
