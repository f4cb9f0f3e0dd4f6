import type { Readable } from 'node:stream';
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
import { createDemoChannel } from './demo-channel.ts';
import { play } from './play.ts';
import type { Screen } from './screen.ts';
import type { DemoStage } from './stage.ts';
import { allRecovered, summary, wentWell } from './summary.ts';

export interface Keyboard extends Readable {
  isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
}

export interface DemoDeps {
  stage: DemoStage;
  acts: readonly Act[];
  clock: Clock;
  log: Log;
  screen: Screen;
  keyboard: Keyboard;
  /** With --yes: how long a card stands before the demo presses its key. Without: a person presses. */
  pressAfterMs?: number;
  timeZone: string;
  /** Aborts when the person or the machine wants the demo to stop. */
  signal: AbortSignal;
  /** Stops the demo, as Ctrl-C does. */
  stop(): void;
}

/** The program is the same as in earnest. Only its configuration makes the long waits short. */
const configOf = ({ cluster, namespace }: DemoStage): Config => {
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

/** Runs tapfix with both roles, plays the acts and prints the summary. Resolves to the exit code. */
export async function runDemo(deps: DemoDeps): Promise<number> {
  const { stage, acts, clock, screen, pressAfterMs, timeZone, signal } = deps;
  const config = configOf(stage);
  const ended = new AbortController(); // ends tapfix when the last act is over
  const eitherEnd = AbortSignal.any([signal, ended.signal]);
  const channel = createDemoChannel({ screen, clock, by: stage.identity, pressAfterMs, signal: eitherEnd });
  const metrics = createMetrics();
  const silences = new Map<string, () => number>();
  const tapfix = runTapfix({
    role: 'all',
    api: stage.tapfixApi,
    clock,
    log: deps.log,
    current: () => config,
    ownNamespace: 'tapfix',
    identity: stage.identity,
    timeZone,
    metrics: {
      ...metrics,
      watchSilence(kind, silentMs) {
        silences.set(kind, silentMs);
        metrics.watchSilence(kind, silentMs);
      },
    },
    readiness: createReadiness(),
    channels: new Map([['console', channel]]),
    signal: eitherEnd,
  });
  const isAutomatic = pressAfterMs !== undefined;
  const releaseKeyboard = isAutomatic ? () => undefined : readKeys(deps, channel.press);
  try {
    const provenMs = config.recovery.stableFor + 1_000;
    const tapfixHeardAtMs = (): number => clock.now() - (silences.get('revisions')?.() ?? Number.POSITIVE_INFINITY);
    const scenes = await play({
      stage,
      acts,
      clock,
      screen,
      channel,
      pressAfterMs,
      provenMs,
      tapfixHeardAtMs,
      signal,
    });
    if (signal.aborted || scenes.length === 0) return 0;
    const { at } = timesIn(timeZone, clock.now());
    const rightsLeft = await countRights(stage);
    screen.print(`\nWhat happened\n${inColumns(summary({ scenes, rightsLeft, at }), screen.width)}`);
    return (isAutomatic ? allRecovered : wentWell)(scenes) ? 0 : 1;
  } finally {
    releaseKeyboard();
    ended.abort();
    await tapfix;
  }
}

const interruptKey = '\u0003'; // Ctrl-C, which a terminal in raw mode passes on as a key
const endKey = '\u0004'; // Ctrl-D

/** Reads single keys, without Enter where there is a terminal. Returns a function that gives the keyboard back. */
function readKeys({ keyboard, stop }: DemoDeps, press: (key: string) => Promise<unknown>): () => void {
  const onData = (chunk: Buffer | string): void => {
    for (const key of chunk.toString().toLowerCase()) {
      if ([interruptKey, endKey, 'q'].includes(key)) stop();
      else if (key.trim() !== '') void press(key);
    }
  };
  keyboard.setRawMode?.(true);
  keyboard.on('data', onData).on('end', stop);
  return () => {
    keyboard.off('data', onData).off('end', stop);
    keyboard.setRawMode?.(false);
    keyboard.pause();
  };
}

/** A fix that is over has given its rights back. The summary counts them instead of promising it. */
async function countRights({ api, namespace }: DemoStage): Promise<number> {
  const labels = Object.entries(managedBy).map(([key, value]) => `${key}=${value}`);
  return (await api.list<KubeObject>('RoleBinding', namespace, { labelSelector: labels.join(',') })).length;
}

/** Times in one column, words in the next. */
const inColumns = (lines: readonly string[], width: number): string =>
  lines
    .flatMap((line) => {
      const [time = '', ...words] = line.split('  ');
      return wrap(words.join(' '), ' '.repeat(12), `  ${time.padEnd(9)}`, width);
    })
    .join('\n');
