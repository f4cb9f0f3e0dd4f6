import { type Clock, inTime, iso } from '../lib/clock.ts';
import { messageOf, RetryLater } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { type Api, isConflict, isForbidden, type KubeObject } from './api.ts';

/** A time during which this replica leads its role. */
export interface Term {
  /** Aborts when this replica no longer leads, or is asked to stop. */
  signal: AbortSignal;
  /** Another replica led until now while this one watched: what it finds broken was not found at a start. */
  isTakeover: boolean;
  /** Throws unless the Lease is ours, by a margin. It is called immediately before everything that others can see. */
  mustLead(): void;
}

/** This replica does not lead (any more). Another one does what was to be done. */
export class NotLeading extends RetryLater {}

export interface LeaseTiming {
  /** Others take the Lease when it was not renewed for so long. */
  leaseDuration: number;
  /** The leader stops when it could not renew for so long: before others may begin. */
  renewDeadline: number;
  retryPeriod: number;
}

export interface LeaseView {
  /** undefined: nobody holds it, or it was not read yet. */
  holder: string | undefined;
  isLeading: boolean;
  /** Why nobody here can lead; undefined: nothing is wrong. */
  problem: string | undefined;
}

interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string | null;
    leaseDurationSeconds?: number | null;
    renewTime?: string | null;
    leaseTransitions?: number | null;
  };
}

export interface ElectionDeps {
  /** It has a short timeout, and neither retries nor a limit: a Lease is renewed in time or not at all. */
  api: Pick<Api, 'get' | 'create' | 'patch'>;
  clock: Clock;
  /** Milliseconds of a clock that nobody sets. The wall clock alone could be set back, and a lost Lease look fresh. */
  steadyMs(): number;
  log: Log;
  namespace: string;
  name: string;
  /** Names this replica, and no other. */
  identity: string;
  timing: LeaseTiming;
}

export interface Election {
  view(): LeaseView;
  /**
   * Competes until the signal aborts. `lead` is called for each term; it ends soon after the term's signal aborts. When
   * asked to stop, the Lease is released after `lead` has ended, so that another replica goes on at once.
   */
  run(lead: (term: Term) => Promise<unknown>, signal: AbortSignal): Promise<void>;
}

/** The times of a Lease have six digits after the point, no more and no less. */
const microTime = (ms: number): string => iso(ms).replace('Z', '000Z');

interface Observed {
  holder: string;
  renewTime: string;
  durationMs: number;
  resourceVersion: string;
  transitions: number;
}

function observed({ metadata, spec = {} }: Lease, timing: LeaseTiming): Observed {
  const { holderIdentity, leaseDurationSeconds, renewTime, leaseTransitions } = spec;
  return {
    holder: holderIdentity ?? '',
    renewTime: renewTime ?? '',
    durationMs: leaseDurationSeconds ? leaseDurationSeconds * 1000 : timing.leaseDuration,
    resourceVersion: metadata.resourceVersion,
    transitions: leaseTransitions ?? 0,
  };
}

/** Elects one replica of a role by a Lease, as client-go does it. */
export function createElection(deps: ElectionDeps): Election {
  const { api, clock, steadyMs, log, namespace, name, identity, timing } = deps;
  const ref = { kind: 'Lease', namespace, name } as const;
  let last: Observed | undefined;
  let changedAtMs = 0; // when we saw it change, on the steady clock: the times of other machines are not compared
  let hasSeenRenewal = false;
  let isLeading = false;
  let problem: string | undefined;

  function observe(lease: Lease): Observed {
    const now = observed(lease, timing);
    const isRenewed = last !== undefined && last.holder === now.holder && last.renewTime !== now.renewTime;
    if (isRenewed && now.holder && now.holder !== identity) hasSeenRenewal = true;
    if (last?.holder !== now.holder || last.renewTime !== now.renewTime) changedAtMs = steadyMs();
    if (now.holder && now.holder !== identity && last?.holder !== now.holder)
      log.info({ lease: name, leader: now.holder }, 'another replica leads, this one follows');
    last = now;
    return now;
  }

  const isFree = ({ holder, durationMs }: Observed): boolean =>
    !holder || holder === identity || steadyMs() - changedAtMs >= durationMs;

  /** A Lease is not there on a laptop's cluster, where the person who runs tapfix may create it. */
  async function read(): Promise<Lease> {
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name } };
    return (await api.get<Lease>(ref)) ?? (await api.create<Lease>({ kind: 'Lease', namespace }, body));
  }

  const write = ({ resourceVersion }: Observed, spec: object): Promise<Lease> =>
    api.patch<Lease>(ref, 'merge', { metadata: { resourceVersion }, spec });

  async function take(): Promise<boolean> {
    const now = observe(await read());
    if (!isFree(now)) return false;
    const nowMs = clock.now();
    observe(
      await write(now, {
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(timing.leaseDuration / 1000),
        acquireTime: microTime(nowMs),
        renewTime: microTime(nowMs),
        leaseTransitions: now.transitions + 1,
      }),
    );
    return true;
  }

  /** When the request that took the Lease was sent; undefined when asked to stop. */
  async function compete(signal: AbortSignal): Promise<Moment | undefined> {
    while (!signal.aborted) {
      const sent = moment();
      try {
        if (await take()) return sent;
        problem = undefined;
      } catch (error) {
        if (!isConflict(error)) complain(error);
      }
      await clock.sleep(timing.retryPeriod, signal);
    }
    return undefined;
  }

  /** Logs once what a retry cannot mend. Others log that the server does not answer. */
  function complain(error: unknown): void {
    if (!isForbidden(error)) return;
    const why = `the Lease ${namespace}/${name} cannot be used: ${messageOf(error)}`;
    if (problem !== why) log.error({ lease: name, reason: messageOf(error) }, 'cannot lead: apply the manifests again');
    problem = why;
  }

  interface Moment {
    wallMs: number;
    steadyMs: number;
  }
  const moment = (): Moment => ({ wallMs: clock.now(), steadyMs: steadyMs() });
  /** The steady clock stands still while a machine sleeps, and the wall clock may be set: the longer time counts. */
  const sinceMs = (then: Moment): number => Math.max(clock.now() - then.wallMs, steadyMs() - then.steadyMs);

  async function leadOnce(taken: Moment, lead: (term: Term) => Promise<unknown>, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    let renewed = taken;
    const isOurs = (): boolean => !over.signal.aborted && sinceMs(renewed) < timing.renewDeadline;
    const term: Term = {
      signal: AbortSignal.any([signal, over.signal]),
      isTakeover: hasSeenRenewal,
      mustLead() {
        if (!isOurs()) over.abort();
        if (over.signal.aborted) throw new NotLeading(`this replica does not lead ${name}`, timing.retryPeriod);
      },
    };
    isLeading = true;
    hasSeenRenewal = true; // whatever comes next, this process has not just started
    log.info({ lease: name, leader: identity, takeover: term.isTakeover }, 'this replica leads');
    const done = new AbortController();
    const work = lead(term).finally(() => done.abort());
    while (!done.signal.aborted) {
      await clock.sleep(timing.retryPeriod, AbortSignal.any([done.signal, over.signal]));
      if (done.signal.aborted || over.signal.aborted) break;
      const sent = moment();
      const leftMs = timing.renewDeadline - sinceMs(renewed);
      if (await inTime({ clock, ms: leftMs, late: false }, () => renew(over))) renewed = sent;
      if (!isOurs()) over.abort();
    }
    isLeading = false;
    await work;
    if (isOurs()) await release();
    if (!signal.aborted) log.warn({ lease: name, leader: last?.holder }, 'this replica no longer leads');
  }

  /** False: it is not known whether it is renewed. Aborts when another replica holds it. */
  async function renew(over: AbortController): Promise<boolean> {
    try {
      observe(await write(last!, { renewTime: microTime(clock.now()) }));
      return true;
    } catch (error) {
      if (!isConflict(error)) return false;
    }
    try {
      const { holder } = observe(await read());
      if (holder !== identity) over.abort();
    } catch {
      // The next renewal shows it.
    }
    return false;
  }

  async function release(): Promise<void> {
    const nobody = { holderIdentity: null, renewTime: microTime(clock.now()) };
    try {
      observe(await write(last!, nobody));
    } catch (error) {
      log.debug({ lease: name, reason: messageOf(error) }, 'Lease not released: it runs out');
    }
  }

  return {
    view: () => ({ holder: last?.holder || undefined, isLeading, problem }),
    async run(lead, signal) {
      while (!signal.aborted) {
        const taken = await compete(signal);
        if (taken) await leadOnce(taken, lead, signal);
      }
    },
  };
}
