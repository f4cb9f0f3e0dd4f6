import type { Config } from '../config/schema.ts';
import { severityNow } from '../health/impact.ts';
import type { LiveHealth } from '../health/trouble.ts';
import { type Api, isConflict } from '../kube/api.ts';
import { foundAtStart, type Remediation, type RemediationSpec, severityOf } from '../kube/remediation.ts';
import { type Clock, iso } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { isAlwaysOut } from '../lib/namespaces.ts';
import type { Derived, Subject } from '../proposals/derive.ts';
import { remediationBody, remediationSpec } from '../proposals/record.ts';
import type { Episodes } from './episodes.ts';
import type { Incident, SeenClass } from './incident.ts';
import { numberOf, remediationName } from './key.ts';
import type { SightingsWriter } from './sightings.ts';

interface RecorderDeps {
  api: Pick<Api, 'get' | 'create' | 'patch'>;
  clock: Clock;
  log: Log;
  current(): Config;
  ownNamespace: string;
  /** The user of our requests. A Remediation names it as its proposer. */
  identity: string;
  derive(subject: Subject, nowMs: number): Promise<Derived | undefined>;
  episodes: Episodes;
  sightings: SightingsWriter;
  /** For counting. */
  onRecorded?(failureClass: string): void;
}

export interface Recorder {
  /** The spec that would be proposed, from a fresh reading. undefined: the target is gone. */
  draft(
    incident: Incident,
    as: SeenClass,
    live: LiveHealth,
    nowMs: number,
    isLastTry?: boolean,
  ): Promise<RemediationSpec | undefined>;
  /** Creates the Remediation, through which all other parts learn of it. Returns its name. */
  record(incident: Incident, spec: RemediationSpec, live: LiveHealth, follows?: Remediation): Promise<string>;
}

/** How many names are tried: a name may belong to another incident's Remediation, if the hashes happen to collide. */
const mostNamesTried = 5;

export function createRecorder(deps: RecorderDeps): Recorder {
  const { api, clock, log, current, ownNamespace, episodes } = deps;
  const startedAt = iso(clock.now());

  /** For an operator's own event reason, nothing is known but the event's message. */
  const derivedFor = async ({ namespace, object }: Incident, as: SeenClass, nowMs: number, isLastTry: boolean) =>
    as.readable
      ? deps.derive({ namespace, class: as.class, object, isLastTry }, nowMs)
      : { diagnosis: as.message, changed: [], evidence: [], rationale: 'no fix is known for this event reason' };

  async function create(key: string, namespace: string, spec: RemediationSpec, start: string | undefined) {
    const first = Math.max(0, ...episodes.ofKey(key).map((fix) => numberOf(fix.metadata.name))) + 1;
    const annotations: Record<string, string> = start ? { [foundAtStart]: start } : {};
    for (let n = first; n < first + mostNamesTried; n++) {
      const name = remediationName(key, n);
      const fix = await createOrFind(namespace, name, remediationBody(namespace, name, spec, annotations));
      if (fix.spec.incident.key === key) return fix;
    }
    throw new Error(`no free name for a Remediation of ${key}`);
  }

  async function createOrFind(namespace: string, name: string, body: object): Promise<Remediation> {
    try {
      return await api.create<Remediation>({ kind: 'Remediation', namespace }, body);
    } catch (error) {
      const there = isConflict(error)
        ? await api.get<Remediation>({ kind: 'Remediation', namespace, name })
        : undefined;
      if (!there) throw error;
      return there;
    }
  }

  return {
    async draft(incident, as, live, nowMs, isLastTry = false) {
      const { key, namespace, object, firstSeenMs } = incident;
      const derived = await derivedFor(incident, as, nowMs, isLastTry);
      if (!derived) return undefined;
      const { class: failureClass, reason, message } = as;
      const holder = episodes.holderOf(key);
      const severity = severityNow(as, live, holder && severityOf(holder));
      return remediationSpec({
        incident: { key, object, firstSeenMs, class: failureClass, severity, reason, message },
        derived,
        earlier: episodes.ofKey(key),
        notifyOnly: isAlwaysOut(namespace, ownNamespace),
        proposedBy: deps.identity,
        config: current(),
        nowMs,
      });
    },
    async record(incident, spec, live, follows) {
      const { key, namespace } = incident;
      const { name, uid } = follows?.metadata ?? {};
      const whole = name && uid ? { ...spec, follows: { name, uid } } : spec;
      const ownStart = incident.atStart ? startedAt : undefined;
      const start = follows ? follows.metadata.annotations?.[foundAtStart] : ownStart;
      const fix = await create(key, namespace, whole, start);
      episodes.remember(fix);
      const { class: failureClass } = spec.incident;
      deps.onRecorded?.(failureClass);
      const about = { key, class: failureClass, namespace, fix: fix.metadata.name, action: spec.action?.type };
      log.info({ ...about, ...(name && { follows: name }) }, 'incident recorded');
      await deps.sightings.write(fix, incident, live);
      return fix.metadata.name;
    },
  };
}
