import type { Config } from '../../../src/config/schema.ts';
import { recordingOf } from '../../../src/replay/recording.ts';
import { replay } from '../../../src/replay/run-replay.ts';
import { aConfig } from '../../support/config.ts';

export const startMs = Date.parse('2026-11-16T03:00:00Z');
const at = (seconds: number): string => new Date(startMs + seconds * 1000).toISOString();

let uids = 0;

/** An event of a pod of Deployment api, `seconds` after the recording began. */
export const anEvent = (seconds: number, over: object = {}): object => ({
  metadata: { name: `e-${++uids}`, namespace: 'shop', uid: `u-${uids}`, creationTimestamp: at(seconds) },
  type: 'Warning',
  reason: 'BackOff',
  message: 'Back-off restarting failed container app in pod',
  involvedObject: { kind: 'Pod', namespace: 'shop', name: 'api-5d9f8b6c4d-x2x4z', uid: 'p' },
  ...over,
});
/** One that was counted up. */
export const often = (first: number, last: number, over: object = {}): object =>
  anEvent(first, { count: 5, firstTimestamp: at(first), lastTimestamp: at(last), ...over });
export const probe = { reason: 'Unhealthy', message: 'Readiness probe failed' };
export const refused = (name: string, quota = 'tight') => ({
  reason: 'FailedCreate',
  message: `Error creating: pods "x" is forbidden: exceeded quota: ${quota}, requested: pods=1, used: pods=1, limited: pods=1`,
  involvedObject: { kind: 'ReplicaSet', namespace: 'shop', name: `${name}-5d9f8b6c4d`, uid: name },
});
export const about = (kind: string, name: string, namespace = 'shop') => ({
  involvedObject: { kind, namespace, name, uid: name },
});

export function played(events: readonly object[], config: Partial<Config> = {}) {
  const recording = recordingOf(events.map((value, index) => ({ value, line: index + 1 })));
  const result = replay(recording, aConfig(config), 'tapfix');
  const said = result.said.map(
    ({ atMs, fix, isEdit }) =>
      `${(atMs - startMs) / 1000} s${isEdit ? ' (edit)' : ''}: ${fix.spec.incident.class} ${fix.spec.incident.key}`,
  );
  const { seen, waiting, outcomes } = result.ledger.totals();
  return { ...result, saidLines: said, seen, waiting, outcomes, unreadable: recording.unreadable };
}
