import { isScheduledTime, isTemplateHash } from './generated-name.ts';

/**
 * A generated name has at most 63 characters: what comes before the five random ones is cut to 58, so a Pod's name of
 * that length may have lost part of its owner's.
 * https://github.com/kubernetes/apiserver/blob/master/pkg/storage/names/generate.go
 */
const longestName = 63;
const longestBase = 58;
const random = /[bcdfghjklmnpqrstvwxz2456789]{5}$/;

export const mayBeCut = (kind: string, name: string): boolean =>
  kind === 'Pod' && name.length === longestName && random.test(name);

/** Whose pods may have names of that length. */
export const longNamingKinds = ['ReplicaSet', 'DaemonSet', 'Job', 'Deployment', 'CronJob', 'StatefulSet'] as const;

export interface Owner {
  kind: string;
  name: string;
  /** Of a Job. */
  indexed?: boolean;
}

/** Pure. Whether this workload, or what it makes, could have given the Pod this name. */
export function couldHaveNamed({ kind, name, indexed = false }: Owner, pod: string): boolean {
  const base = pod.slice(0, longestBase);
  switch (kind) {
    case 'ReplicaSet':
    case 'DaemonSet':
      return base === `${name}-`.slice(0, longestBase);
    case 'Job':
      return indexed ? couldBeIndexed(name, base) : base === `${name}-`.slice(0, longestBase);
    case 'Deployment':
      return continues(base, name, 10, isTemplateHash, /^[56789bcdf][456789bcdf]*$/);
    case 'CronJob':
      return continues(base, name, 8, (minutes) => isScheduledTime(Number(minutes), Number.MAX_SAFE_INTEGER), /^\d+$/);
    case 'StatefulSet': // never cut: a pod whose name does not fit is not made
      return pod.startsWith(`${name}-`) && /^(0|[1-9]\d{0,5})$/.test(pod.slice(name.length + 1));
    default:
      return false;
  }
}

/** The Job's name is cut, not the index: https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/job/indexed_job_utils.go */
function couldBeIndexed(name: string, base: string): boolean {
  const [index = ''] = /-(0|[1-9]\d*)-$/.exec(base) ?? [];
  return index !== '' && base === `${name.slice(0, longestBase - index.length)}${index}`;
}

/** "name-generated-", cut anywhere behind the name, or within it. */
function continues(
  base: string,
  name: string,
  longest: number,
  isGenerated: (text: string) => boolean,
  begins: RegExp,
): boolean {
  if (name.length >= longestBase - 1) return base === `${name}-`.slice(0, longestBase);
  if (!base.startsWith(`${name}-`)) return false;
  const rest = base.slice(name.length + 1);
  return rest.endsWith('-') ? isGenerated(rest.slice(0, -1)) : rest.length <= longest && begins.test(rest);
}
