import { type RoleName, runTapfix } from '../../src/app/app.ts';
import type { Channel } from '../../src/channels/channel.ts';
import type { Config } from '../../src/config/schema.ts';
import { createElection, type Election, type Term } from '../../src/kube/lease.ts';
import { createOutage } from '../../src/kube/outage.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { createReadiness } from '../../src/ops/readiness.ts';
import type { ApiServer } from '../../src/sim/api/api-server.ts';
import { localApi } from '../../src/sim/api/local-api.ts';
import type { Part } from './plan.ts';
import { createGate, gatedClock, gatedServer, type Gate } from './replica.ts';
import type { Weather } from './weather.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
/** One for all runs: prom-client observes the process for each, and never stops. */
const metrics = createMetrics();
/** As over HTTP. */
const patience = { retry: true, timeoutMs: 15_000 };

/** One life of a process: it can be ended, or paused, at any moment. */
export interface ProcessSelf {
  /** Its identity in Leases; each life has another. */
  readonly name: string;
  readonly part: Part;
  readonly gate: Gate;
  readonly stop: AbortController;
  asleep(): number;
  /** How often it has begun to lead. */
  terms(): number;
  /** Whether it believes that it leads this role. */
  isLeading(role: RoleName): boolean;
}
export interface VirtualProcess extends ProcessSelf {
  /** Whether it ended in time, once it was asked to stop. */
  readonly ended: Promise<boolean>;
}

interface VirtualProcessDeps {
  name: string;
  part: Part;
  /** False: it is the only one of its role, as without Leases. */
  isElected: boolean;
  server: Pick<ApiServer, 'handle'>;
  weather: Weather;
  clock: Clock;
  random: () => number;
  config: Config;
  /** Its way to the vendor; undefined: it talks to nobody. */
  connect?: ((self: ProcessSelf) => Channel) | undefined;
}

export function startProcess(deps: VirtualProcessDeps): VirtualProcess {
  const { name, part, server, weather, random, config } = deps;
  const gate = createGate();
  const stop = new AbortController();
  const clock = gatedClock(deps.clock, gate);
  const terms = new Map<RoleName, Term>();
  let began = 0;
  const mustLead = (): void => terms.forEach((term) => term.mustLead());
  const outage = createOutage({ clock, log: silent });
  const api = localApi(gatedServer(weather.server(server, part), gate, mustLead), {
    patience: { ...patience, clock, random, outage },
  });
  const { leaderElection } = config;
  const leaseApi = localApi(gatedServer(weather.server(server, part, leaderElection.renewDeadline / 2), gate));

  function electionOf(role: RoleName): Election {
    const election = createElection({
      api: leaseApi,
      clock,
      steadyMs: clock.now,
      log: silent,
      namespace: 'tapfix',
      name: `tapfix-${role}`,
      identity: name,
      timing: leaderElection,
    });
    return {
      view: election.view,
      run: (lead, signal) =>
        election.run(async (term) => {
          began += 1;
          terms.set(role, term);
          await lead(term);
          terms.delete(role);
        }, signal),
    };
  }
  const elections = { watcher: electionOf('watcher'), controller: electionOf('controller') };
  const isLeading = (role: RoleName): boolean => !deps.isElected || elections[role].view().isLeading;
  const self: ProcessSelf = { name, part, gate, stop, asleep: clock.asleep, terms: () => began, isLeading };
  const channel = deps.connect?.(self);
  const ended = runTapfix({
    role: part,
    api,
    clock,
    log: silent,
    current: () => config,
    ownNamespace: 'tapfix',
    identity: `system:serviceaccount:tapfix:tapfix-${part === 'all' ? 'watcher' : part}`,
    timeZone: 'UTC',
    metrics,
    readiness: createReadiness(),
    channels: new Map(channel && [[channel.name, channel]]),
    ...(deps.isElected && { elections }),
    signal: stop.signal,
  });
  return { ...self, ended };
}
