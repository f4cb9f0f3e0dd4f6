import { type Api, isConflict, type KubeObject } from '../kube/api.ts';
import type { Phase, Remediation } from '../kube/remediation.ts';
import { apiVersionOf, type Kind } from '../kube/resources.ts';
import { type Clock, iso } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { hashOf } from '../lib/hash.ts';
import type { Log } from '../lib/log.ts';
import { plain } from '../lib/text.ts';

interface About {
  kind: Kind;
  name: string;
  uid: string;
}

export interface EventWriter {
  /**
   * Writes an Event with the condition's message on the Remediation and, if given and existing, on its target. Never
   * fails.
   */
  tell(fix: Remediation, phase: Phase, message: string, target?: About): void;
}

/** Writes Kubernetes Events. The name is derived from the content, so a crash does not write one twice. */
export function createEventWriter({ api, clock, log }: { api: Api; clock: Clock; log: Log }): EventWriter {
  /**
   * Once a fix was started, its target did exist, even if a deletion then removed it. Before that, only the proposer
   * claims that there is one.
   */
  const isThere = async ({ metadata, status }: Remediation, { kind, name, uid }: About): Promise<boolean> =>
    status?.execution?.startedAt !== undefined ||
    (await api.get<KubeObject>({ kind, name, namespace: metadata.namespace! }))?.metadata.uid === uid;

  async function write(fix: Remediation, phase: Phase, message: string, about: About): Promise<void> {
    const namespace = fix.metadata.namespace!;
    const at = iso(clock.now());
    const name = `${about.name.slice(0, 200)}.${hashOf({ fix: fix.metadata.uid, phase, about: about.uid }, 16)}`;
    const body = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: { apiVersion: apiVersionOf(about.kind), namespace, ...about },
      type: phase === 'Failed' ? 'Warning' : 'Normal',
      reason: `Fix${phase}`,
      message: plain(message, 1024),
      source: { component: 'tapfix' },
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    };
    try {
      if (about.kind !== 'Remediation' && !(await isThere(fix, about))) return;
      await api.create({ kind: 'Event', namespace }, body);
    } catch (error) {
      if (!isConflict(error)) log.debug({ namespace, name, error: messageOf(error) }, 'event not written');
    }
  }

  return {
    tell(fix, phase, message, target) {
      const { name, uid } = fix.metadata;
      void write(fix, phase, message, { kind: 'Remediation', name, uid });
      if (target) void write(fix, phase, `${message} (Remediation ${name})`, target);
    },
  };
}
