import { parseAction } from '../../src/actions/table.ts';
import { classNames } from '../../src/config/schema.ts';
import type { ControllerDeps } from '../../src/controller/controller.ts';
import { readHealth } from '../../src/diagnosis/health.ts';
import { ApiError, type Reader, Unreachable } from '../../src/kube/api.ts';
import { isOver, type Remediation } from '../../src/kube/remediation.ts';
import type { Kind } from '../../src/kube/resources.ts';
import { canonical } from '../../src/lib/hash.ts';
import { type Call, dyingAt, isWrite } from '../support/fake-api.ts';
import type { World } from '../unit/controller/world.ts';
import type { Random } from './random.ts';

/** One of the actions, and its target, which others change as well. */
export interface Stage {
  make(): World;
  kind: Kind;
  name: string;
  /** What others do to the target. */
  others: Readonly<Record<string, (world: World) => void>>;
  /** The workloads follow the change, in their own time. */
  follow(world: World, delayMs: number | undefined): void;
  isHealthy(world: World): boolean;
}

export interface Ending {
  phase: string | undefined;
  changes: number;
  /** Changes of a target that was not (or no longer) the one that was shown. */
  blind: number;
  /** Recovered was said although it was not healthy for the whole window. */
  rash: number;
  bindings: number;
  kills: number;
  faults: number;
  other: string;
  /** After the change the workload becomes healthy, in its own time. */
  heals: boolean;
}

const isRealChange = (call: Call, { kind, name }: Stage): boolean =>
  isWrite(call) && call.identity !== undefined && call.kind === kind && call.name === name;

const writeErrors = [
  new ApiError('the object has been modified', 409, 'Conflict'),
  new ApiError('etcd timeout', 500, 'InternalError'),
];
const anyErrors = [
  new Unreachable('connection reset'),
  new ApiError('etcd leader changed', 500, 'InternalError'),
  new ApiError('gateway timeout', 504, 'Timeout'),
  new ApiError('slow down', 429, 'TooManyRequests'),
];

/** One seeded life of one proposal: kills, lost answers, refusals, others at work, and a person who decides. */
export async function liveThrough(stage: Stage, random: Random): Promise<Ending> {
  const world = stage.make();
  const { server, clock } = world;
  const startMs = clock.now();
  const name = world.fix().metadata.name;
  server.change('Remediation', 'shop', name, { spec: { ttlMinutes: random.pick([1, 30]) } });
  const later = (ms: number, work: () => void): void => void clock.sleep(ms).then(work);

  const targetNow = (): string => canonical(server.get(stage.kind, 'shop', stage.name)?.['spec'] ?? null);
  const ending = { changes: 0, blind: 0, rash: 0, kills: 0, faults: 0 };

  // What the target's states hash to, read around all faults.
  const quiet = {
    get: async ({ kind, namespace, name }) => structuredClone(server.get(kind, namespace!, name)) as never,
    list: async (kind, namespace) => structuredClone(server.list(kind, namespace)) as never,
  } as Pick<Reader, 'get' | 'list'> as Reader;
  const hashes = new Map<string, string>();
  const hash = async (): Promise<void> => {
    const state = targetNow();
    const { action, params } = parseAction(world.fix().spec.action!);
    const prepared = await action.prepare(params, { namespace: 'shop', fixUid: '', reader: quiet });
    if (prepared.ok) hashes.set(state, prepared.targetHash);
  };
  await hash();
  let before = targetNow();

  const other = random.chance(0.5) ? random.pick(Object.keys(stage.others)) : '';
  const meddle = (): void => {
    stage.others[other]?.(world);
    before = targetNow();
    void hash();
  };
  const atTheLastMoment = random.chance(0.5);
  if (other && !atTheLastMoment) later(random.int(0, 60_000), meddle);

  const probability = random.pick([0, 0.02, 0.1, 0.25]);
  const faultsEndMs = startMs + random.int(5_000, 60_000);
  const hits = (): boolean => clock.now() < faultsEndMs && random.chance(probability / 2) && ++ending.faults > 0;
  const inner = server.hooks.after;
  const healMs = random.chance(0.05) ? undefined : random.int(0, 20_000);
  let isMeddled = false;
  let healthySinceMs: number | undefined;
  const noteHealth = (): void => {
    healthySinceMs = stage.isHealthy(world) ? (healthySinceMs ?? clock.now()) : undefined;
  };
  server.hooks.before = (call) => {
    if (other && atTheLastMoment && !isMeddled && isRealChange(call, stage)) {
      isMeddled = true;
      meddle();
    }
    if (hits()) throw random.pick(isWrite(call) ? [...writeErrors, ...anyErrors] : anyErrors);
  };
  server.hooks.after = async (call) => {
    if (isRealChange(call, stage)) {
      ending.changes += 1;
      if (hashes.get(before) !== world.fix().status?.preview?.targetHash) ending.blind += 1;
      before = targetNow();
      stage.follow(world, healMs);
    }
    if (healMs !== undefined) await inner?.(call);
    noteHealth();
    const said = (call.body as { status?: { phase?: string } } | undefined)?.status?.phase;
    if (call.kind === 'Remediation' && said === 'Recovered')
      if (healthySinceMs === undefined || clock.now() - healthySinceMs < 30_000) ending.rash += 1;
    if (hits()) throw new Unreachable('connection reset after it was done');
  };

  const decision = random.pick(['approve', 'approve', 'approve', 'approve', 'approve', 'approve', 'reject', 'never']);
  if (decision === 'approve')
    later(random.int(0, random.chance(0.1) ? 90_000 : 40_000), () =>
      world.approve(random.pick(['telegram:7', 'ada@example.com'])),
    );
  if (decision === 'reject')
    later(
      random.int(0, 40_000),
      () =>
        void server.change('Remediation', 'shop', name, {
          spec: { approval: { state: 'Rejected', by: 'telegram:7' } },
        }),
    );
  if (decision === 'never') server.change('Remediation', 'shop', name, { spec: { ttlMinutes: 1 } });

  // There are no pods in these worlds to show what it was noticed for: while it is not well, it has that.
  const real: Pick<ControllerDeps, 'readHealth'> = {
    readHealth: async (...asked) => {
      const live = await readHealth(...asked);
      return live.healthy ? live : { ...live, troubles: classNames };
    },
  };
  ending.kills = random.int(0, 3);
  for (let life = 0; life < ending.kills; life++) {
    let calls = random.int(1, 60);
    const process = world.start(
      dyingAt(() => --calls === 0, random.pick(['before', 'after'] as const)),
      real,
    );
    await clock.advance(random.int(500, 20_000));
    if (random.chance(0.2)) later(random.int(0, 10_000), () => process.stop());
    else process.stop();
    await clock.advance(random.int(0, 10_000));
  }
  const last = world.start({}, real);
  for (let n = 0; n < 200 && !isOver(world.fix() as Remediation); n++) await clock.advance(15_000);
  await clock.advance(130_000); // two sweeps
  last.stop();
  await clock.advance(1_000);
  return {
    ...ending,
    phase: world.phase(),
    bindings: server.list('RoleBinding').length,
    other,
    heals: healMs !== undefined,
  };
}
