import type { Config } from '../config/schema.ts';
import { type Api, isConflict, isNotFound } from '../kube/api.ts';
import { levelOf } from '../kube/outage.ts';
import { timeMs } from '../kube/raw.ts';
import { phaseOf, type Remediation } from '../kube/remediation.ts';
import { messageOf } from '../lib/errors.ts';
import { isLiteral } from '../lib/glob.ts';
import type { Log } from '../lib/log.ts';
import type { Lock } from './context.ts';
import { needsRehearsal } from './decide.ts';
import { type Binding, managedBy, writerAccount } from './rights.ts';

const longestLifeMs = 15 * 60_000;

/** Pure: whether rights that we created may still be in use. */
export function isInUse(binding: Binding, fix: Remediation | undefined, nowMs: number): boolean {
  if (!fix || nowMs > timeMs(binding.metadata.creationTimestamp) + longestLifeMs) return false;
  const phase = phaseOf(fix);
  return phase === 'Applying' || ((phase === 'Proposed' || phase === 'Approved') && needsRehearsal(fix));
}

export interface SweepDeps {
  api: Api;
  log: Log;
  lock: Lock;
  current(): Config;
  /** tapfix's own namespace. */
  namespace: string;
  /** The namespaces that have Remediations. */
  namespaces(): readonly string[];
}

/** Removes rights that a crash did not clean up. It runs under the write lock, so that none of our own are in use. */
export function createSweeper({
  api,
  log,
  lock,
  current,
  namespace: own,
  namespaces,
}: SweepDeps): (nowMs: number) => Promise<void> {
  async function owner({ metadata }: Binding): Promise<Remediation | undefined> {
    const reference = metadata.ownerReferences?.find(({ kind }) => kind === 'Remediation');
    if (!reference) return undefined;
    const { name, uid } = reference;
    const fix = await api.get<Remediation>({ kind: 'Remediation', namespace: metadata.namespace!, name });
    return fix?.metadata.uid === uid ? fix : undefined;
  }

  async function sweepOne(binding: Binding, nowMs: number): Promise<void> {
    const { namespace, name, uid } = binding.metadata;
    if (isInUse(binding, await owner(binding), nowMs)) return;
    try {
      await api.delete({ kind: 'RoleBinding', namespace: namespace!, name }, { uid });
      log.info({ namespace, name }, 'left-over rights removed');
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error))
        log[levelOf(error)]({ namespace, name, error: messageOf(error) }, 'left-over rights not removed');
    }
  }

  return async (nowMs) => {
    for (const namespace of scopes(current(), namespaces())) {
      try {
        await lock(async () => {
          const labelSelector = Object.entries(managedBy)
            .map((pair) => pair.join('='))
            .join(',');
          const found = await api.list<Binding>('RoleBinding', namespace, { labelSelector });
          for (const binding of found.filter((one) => isMinted(one, own))) await sweepOne(binding, nowMs);
        });
      } catch (error) {
        log[levelOf(error)]({ namespace, error: messageOf(error) }, 'sweep failed');
      }
    }
  };
}

/**
 * Created by this installation for a fix. Its permanent bindings, and those of another installation, carry the label
 * too.
 */
const isMinted = ({ metadata, subjects }: Binding, own: string): boolean =>
  /^tapfix-[0-9a-f-]{36}$/.test(metadata.name) &&
  subjects?.length === 1 &&
  subjects[0]?.name === writerAccount &&
  subjects[0].namespace === own;

/**
 * With only literal names, tapfix may list just those namespaces, and those where it has worked before. undefined is
 * the whole cluster.
 */
const scopes = ({ namespaces: { include } }: Config, known: readonly string[]): (string | undefined)[] =>
  include.every(isLiteral) ? [...new Set([...include, ...known])] : [undefined];
