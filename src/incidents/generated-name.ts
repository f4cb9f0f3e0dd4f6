/**
 * Owners read from names, for objects that are already gone. Only suffixes that Kubernetes itself could have generated
 * for that kind are stripped, so neither `payments-worker` nor `web-grpcsvr` loses its end. Several kinds make names of
 * the same shape: who of them is meant only the cluster can tell (owner.ts).
 */
export interface NamedOwner {
  kind: string;
  name: string;
  /** Only of a Job: whether it would have to be an Indexed one. */
  indexed?: boolean;
}

/** No vowels and no 0, 1 or 3. https://github.com/kubernetes/apimachinery/blob/master/pkg/util/rand/rand.go */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
/** Those that the digits 0 to 9 become (SafeEncodeString). */
const hashDigits = '456789bcdf';
const randomEnd = new RegExp(`^(.+)-[${letters}]{5}$`);
const hashEnd = new RegExp(`^(.+)-([${hashDigits}]{6,10})$`);
const numberEnd = /^(.+)-(0|[1-9]\d{0,5})$/;
const timeEnd = /^(.+)-([1-9]\d{7,})$/;

/** A template's hash is a number of 32 bits; one of fewer than six digits is too rare to look for in every name. */
export function isTemplateHash(text: string): boolean {
  const digits = [...text].map((letter) => hashDigits.indexOf(letter));
  return digits.length >= 6 && digits[0] !== 0 && !digits.includes(-1) && Number(digits.join('')) <= 0xffffffff;
}

const firstCronJobMs = Date.UTC(2016, 0);
const dayMs = 86_400_000;

/** A CronJob names its Jobs by the minute they were due; a clock may be a little ahead of ours. */
export const isScheduledTime = (minutes: number, nowMs: number): boolean =>
  minutes * 60_000 >= firstCronJobMs && minutes * 60_000 <= nowMs + dayMs;

const ownersOf: Readonly<Record<string, (name: string, nowMs: number) => NamedOwner[]>> = {
  Pod: (name) => {
    const [, base] = randomEnd.exec(name) ?? [];
    const [, job] = numberEnd.exec(base ?? '') ?? [];
    const [, set] = numberEnd.exec(name) ?? [];
    return [
      ...(base ? ['ReplicaSet', 'DaemonSet'].map((kind) => ({ kind, name: base })) : []),
      ...(base ? [{ kind: 'Job', name: base, indexed: false }] : []),
      ...(job ? [{ kind: 'Job', name: job, indexed: true }] : []),
      ...(set ? [{ kind: 'StatefulSet', name: set }] : []),
    ];
  },
  ReplicaSet: (name) => {
    const [, base, hash = ''] = hashEnd.exec(name) ?? [];
    return base && isTemplateHash(hash) ? [{ kind: 'Deployment', name: base }] : [];
  },
  Job: (name, nowMs) => {
    const [, base, minutes] = timeEnd.exec(name) ?? [];
    return base && isScheduledTime(Number(minutes), nowMs) ? [{ kind: 'CronJob', name: base }] : [];
  },
};

/** Pure. Everybody who could have named it so: at most one of each kind, or none. */
export const ownersByName = (kind: string, name: string, nowMs: number): NamedOwner[] =>
  (Object.hasOwn(ownersOf, kind) ? ownersOf[kind]! : () => [])(name, nowMs);

/**
 * Pure. The workload that a name alone tells, where there is no cluster to ask (a replay): a template's hash is a
 * Deployment's, a scheduled time a CronJob's, an ordinal a StatefulSet's. Five random letters alone tell nothing.
 */
export function ownerByName(kind: string, name: string, nowMs: number): NamedOwner | undefined {
  const owners = ownersByName(kind, name, nowMs);
  const above = owners.flatMap((owner) => ownersByName(owner.kind, owner.name, nowMs));
  return [...above, ...owners].find((owner) => ['Deployment', 'CronJob', 'StatefulSet'].includes(owner.kind));
}
