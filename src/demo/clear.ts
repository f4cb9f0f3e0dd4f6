import type { Api } from '../kube/api.ts';
import type { Notice } from '../kube/notice.ts';
import type { Clock } from '../lib/clock.ts';
import { counted } from '../lib/text.ts';
import { defaultNamespace as tapfixNamespace } from '../manifests/manifest.ts';
import { isGone, type Made, remove } from './install.ts';
import { waitUntil } from './wait.ts';

export interface Leftovers {
  api: Pick<Api, 'get' | 'list' | 'delete'>;
  made: readonly Made[];
  clock: Clock;
}

/** Nobody waits longer than this for something to be gone; and once something has stayed, not so long for each of the rest. */
const goneMs = { first: 180_000, rest: 10_000 };

/** Last made, first removed: the shop goes before what tapfix needs to know of it. Also after Ctrl-C. */
export async function clear({ api, made, clock }: Leftovers, say: (text: string) => void): Promise<void> {
  if (made.length === 0) return;
  const never = new AbortController().signal;
  say(`\nRemoving what the demo put there (${counted(made.length, 'object')}) ...`);
  const left: string[] = [];
  for (const one of made.toReversed()) {
    const { kind, name, namespace } = one.ref;
    if (kind === 'Namespace' && name !== tapfixNamespace) await removeNotices(api, name).catch(() => undefined);
    // To ask for it is not enough: namespaces and resource definitions take their time, and are there until then.
    const isRemoved = async (): Promise<boolean> => {
      await remove(api, one);
      return isGone(api, one);
    };
    const forMs = left.length === 0 ? goneMs.first : goneMs.rest;
    const { ok } = await waitUntil(isRemoved, { clock, signal: never, forMs });
    if (!ok) left.push(`  kubectl delete ${kind.toLowerCase()} ${name}${namespace ? ` -n ${namespace}` : ''}`);
  }
  say(left.length > 0 ? `Some of it is still there; remove it with\n${left.join('\n')}` : 'All of it is gone.');
}

/** The messages of this demo; those of others stay. */
async function removeNotices(api: Leftovers['api'], shop: string): Promise<void> {
  for (const { metadata, spec } of await api.list<Notice>('Notice', tapfixNamespace)) {
    const isOurs = spec.members.length > 0 && spec.members.every(({ namespace }) => namespace === shop);
    if (isOurs)
      await api.delete({ kind: 'Notice', namespace: tapfixNamespace, name: metadata.name }, { uid: metadata.uid });
  }
}
