import { runTapfix } from '../app/app.ts';
import { wrap } from '../channels/console/console-text.ts';
import { parseConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { managedBy } from '../controller/rights.ts';
import type { KubeObject } from '../kube/api.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { timesIn } from '../notices/cards/times.ts';
import { createMetrics } from '../ops/metrics.ts';
import { createReadiness } from '../ops/readiness.ts';
import type { Act } from './acts.ts';
import { createDemoChannel } from './channel.ts';
import { type KeyboardInput, listen } from './keyboard.ts';
import { play } from './play.ts';
import type { Screen } from './screen.ts';
import type { Stage } from './stage.ts';
import { allRecovered, summary, wentWell } from './summary.ts';

export interface DemoDeps {
  stage: Stage;
  acts: readonly Act[];
  clock: Clock;
  log: Log;
  screen: Screen;
  keyboard: KeyboardInput;
  yes: boolean;
  timeZone: string;
  /** Aborts when we are asked to stop. */
  signal: AbortSignal;
  /** As if we were asked to stop. */
  stop(): void;
}

/** Everything that takes long in earnest is short here, by configuration alone: the program is the same. */
const configOf = ({ cluster, namespace }: Stage): Config => {
  const parsed = parseConfig(
    JSON.stringify({
      cluster,
      namespaces: { include: [namespace] },
      classes: { QuotaExceeded: { for: '2s' }, CrashLoop: { for: '3s' }, ImagePull: { for: '5s' } },
      notices: { coalesce: '0s', maxPerMinute: 20 },
      recovery: { stableFor: '3s', timeout: '2m' },
      channels: { console: {} },
    }),
    'the configuration of the demo',
  );
  if (!parsed.ok) throw new Error(`the demo's own configuration is wrong: ${JSON.stringify(parsed.problems)}`);
  return parsed.config;
};

/** tapfix with both roles and the acts that it is shown in. Resolves to the exit code. */
export async function runDemo(deps: DemoDeps): Promise<number> {
  const { stage, clock, screen, yes, timeZone, signal } = deps;
  const config = configOf(stage);
  const channel = createDemoChannel({ screen, by: stage.identity, yes });
  const ended = new AbortController(); // of tapfix: also when the last act is over
  const both = AbortSignal.any([signal, ended.signal]);
  const tapfix = runTapfix({
    role: 'all',
    api: stage.tapfixApi,
    clock,
    log: deps.log,
    current: () => config,
    ownNamespace: 'tapfix',
    identity: stage.identity,
    timeZone,
    metrics: createMetrics(),
    readiness: createReadiness(),
    channels: new Map([['console', channel]]),
    signal: both,
  });
  const giveBack = yes ? () => undefined : readKeys(deps, channel.press);
  try {
    const provenMs = config.recovery.stableFor + 1_000;
    const scenes = await play({ ...deps, channel, provenMs });
    if (signal.aborted || scenes.length === 0) return 0;
    const { at } = timesIn(timeZone, clock.now());
    const rightsLeft = await countRights(stage);
    screen.say(`\nWhat happened\n${inColumns(summary({ scenes, rightsLeft, at }))}`);
    return (yes ? allRecovered : wentWell)(scenes) ? 0 : 1;
  } finally {
    giveBack();
    ended.abort();
    await tapfix;
  }
}

/** q leaves. */
function readKeys({ keyboard, stop }: DemoDeps, press: (key: string) => Promise<unknown>): () => void {
  const onKey = (key: string): void => (key === 'q' ? stop() : void press(key));
  return listen({ input: keyboard, onKey, onEnd: stop, onInterrupt: stop });
}

/** A fix that is over has given its rights back: counted, not promised. */
async function countRights({ api, namespace }: Stage): Promise<number> {
  const labelSelector = Object.entries(managedBy)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  return (await api.list<KubeObject>('RoleBinding', namespace, { labelSelector })).length;
}

/** The words of a line begin below one another, behind the time. */
const inColumns = (lines: readonly string[]): string =>
  lines
    .flatMap((line) => {
      const [time = '', ...words] = line.split('  ');
      return wrap(words.join(' '), ' '.repeat(12), `  ${time.padEnd(9)}`);
    })
    .join('\n');
