import { wrap } from '../channels/console/console-text.ts';
import { conditionOf, isOver, phaseOf, type Remediation, replacedIn } from '../kube/remediation.ts';
import type { Clock } from '../lib/clock.ts';
import { spokenDuration } from '../lib/duration.ts';
import { UserError } from '../lib/errors.ts';
import { counted } from '../lib/text.ts';
import type { Act } from './acts.ts';
import type { DemoChannel } from './demo-channel.ts';
import { waitUntil } from './patience.ts';
import type { Screen } from './screen.ts';
import {
  isHealthy,
  openShop,
  readShop,
  readyCounts,
  shop,
  type ShopPart,
  type DemoStage,
  touchReplicaSets,
} from './stage.ts';

export interface PlayDeps {
  stage: DemoStage;
  acts: readonly Act[];
  clock: Clock;
  screen: Screen;
  channel: DemoChannel;
  /** With --yes: how long a card stands before the demo presses its key. Without: a person presses. */
  pressAfterMs: number | undefined;
  /** A version that has run this long counts as healthy for tapfix. */
  provenMs: number;
  /** When tapfix last heard of a ReplicaSet. */
  tapfixHeardAtMs(): number;
  signal: AbortSignal;
}

/** The result of an act, for the summary. */
export interface PlayedAct {
  act: Act;
  brokeAtMs: number;
  /** When the card appeared; absent when there was none. */
  shownAtMs?: number;
  /** The last state of the fix; absent when tapfix proposed none. */
  fix?: Remediation;
}

/** The longest wait for the shop, for a card, and with --yes for a fix. */
const mostMs = 180_000;
/** The longest wait for the last edit of a card. After an outage a dead watch must first be given up and begun again. */
const lastEditMs = 150_000;

/** Plays the acts one after the other. Ends early when the signal aborts. */
export async function play(deps: PlayDeps): Promise<PlayedAct[]> {
  const { stage, acts, screen, signal } = deps;
  await openShop(stage);
  const parts = await untilHealthy(deps, `The shop opens: ${counted(shop.length, 'workload')}`);
  if (signal.aborted) return [];
  screen.print(`The shop is well: ${readyCounts(parts)}.`);
  const scenes: PlayedAct[] = [];
  for (const [index, act] of acts.entries()) {
    await untilProven(deps);
    if (signal.aborted) break;
    const number = acts.length > 1 ? `Act ${index + 1} of ${acts.length}. ` : '';
    screen.print(`\n${wrap(`${number}${act.title}`, '', '', screen.width).join('\n')}\n`);
    const scene = await playAct(act, deps);
    scenes.push(scene);
    if (signal.aborted || !scene.fix) break;
    const isLast = index === acts.length - 1;
    if (phaseOf(scene.fix) !== 'Recovered' && !isLast) await startOver(act, deps);
  }
  return scenes;
}

async function playAct(act: Act, deps: PlayDeps): Promise<PlayedAct> {
  const { stage, clock, signal, channel } = deps;
  const before = new Set((await fixesOf(stage)).map(({ metadata }) => metadata.uid));
  const brokeAtMs = clock.now();
  await act.break(stage, clock, signal);
  const fixNow = async (): Promise<Remediation | undefined> => {
    const fixes = (await fixesOf(stage)).filter(({ metadata }) => !before.has(metadata.uid));
    const replaced = replacedIn(fixes);
    return fixes.find(({ metadata }) => !replaced.has(metadata.uid));
  };
  if (!(await wait(deps, 'Waiting for tapfix to notice', () => channel.shown() !== undefined)))
    return { act, brokeAtMs };
  const shownAtMs = clock.now();
  const fix = await untilOver(fixNow, deps);
  channel.close();
  return { act, brokeAtMs, shownAtMs, ...(fix && { fix }) };
}

/** Waits until the fix is over, whoever decides it and however it ends. With --yes it presses the keys. */
async function untilOver(
  fixNow: () => Promise<Remediation | undefined>,
  { channel, pressAfterMs, clock, signal }: PlayDeps,
): Promise<Remediation | undefined> {
  let fix: Remediation | undefined;
  let offered: { key: string; sinceMs: number } | undefined;

  async function pressInTime(afterMs: number): Promise<void> {
    const key = channel.keys().find((one) => one === 'a' || one === 'y');
    if (offered?.key !== key) offered = key === undefined ? undefined : { key, sinceMs: clock.now() };
    if (!offered || clock.now() - offered.sinceMs < afterMs) return;
    await channel.press(offered.key);
    offered = undefined;
  }

  const isDone = async (): Promise<boolean> => {
    fix = await fixNow();
    if (pressAfterMs !== undefined) await pressInTime(pressAfterMs);
    return fix !== undefined && (isOver(fix) || !fix.spec.action);
  };
  const forMs = pressAfterMs === undefined ? Number.POSITIVE_INFINITY : mostMs;
  await waitUntil(isDone, { clock, signal, forMs });
  await waitUntil(() => isSettled(channel), { clock, signal, forMs: lastEditMs });
  return fix;
}

/** Whether the card shows how it ended. */
function isSettled(channel: DemoChannel): boolean {
  const [card] = channel.shown()?.cards ?? [];
  const canBeDecided = channel.keys().some((key) => key !== 'g');
  return card === undefined || (!canBeDecided && !['yellow', 'blue'].includes(card.dot));
}

/** Repairs the shop when nobody wanted the fix or it did not help. */
async function startOver(act: Act, deps: PlayDeps): Promise<void> {
  const sentence = 'The demo puts the shop right by itself, so that the next act begins well.';
  deps.screen.print(`\n${wrap(sentence, '', '', deps.screen.width).join('\n')}`);
  await act.mend(deps.stage);
  await untilHealthy(deps, 'The shop comes back');
}

/** A shop that does not become healthy ends the demo: the act would show a failure that it did not cause. */
async function untilHealthy(deps: PlayDeps, words: string): Promise<ShopPart[]> {
  const { stage, signal } = deps;
  let parts: ShopPart[] = [];
  const ok = await wait(deps, words, async () => isHealthy((parts = await readShop(stage.api, stage.namespace))));
  if (!ok && !signal.aborted)
    throw new UserError(`the shop is not well after ${spokenDuration(mostMs)}: ${readyCounts(parts)}`);
  return parts;
}

/** Waits, and shows below the card what for and how long. */
async function wait(deps: PlayDeps, words: string, isTrue: () => Promise<boolean> | boolean): Promise<boolean> {
  const { clock, screen, signal } = deps;
  const beganMs = clock.now();
  if (!screen.inPlace) screen.print(`${words} ...`);
  const { ok, lastError } = await waitUntil(
    async () => {
      const done = await isTrue();
      const seconds = Math.floor((clock.now() - beganMs) / 1000);
      if (!done) screen.showStatus(`${words} ... ${seconds > 0 ? `${seconds} s` : ''}`.trimEnd());
      return done;
    },
    { clock, signal, forMs: mostMs },
  );
  screen.showStatus('');
  if (!ok && lastError) screen.print(lastError);
  return ok;
}

/** An API server that has not answered for this long was away. */
const outageMs = 1_000;

/**
 * Waits until tapfix has watched the healthy shop long enough to know the way back. tapfix counts from the first change that
 * it hears of, and again after each outage, so the demo makes a change then.
 */
async function untilProven(deps: PlayDeps): Promise<void> {
  const { stage, clock, provenMs, tapfixHeardAtMs } = deps;
  let answeredAtMs = clock.now();
  let touchedAtMs: number | undefined;
  let provenAtMs: number | undefined;
  await wait(deps, 'tapfix sees how the shop does when it is well', async () => {
    await readShop(stage.api, stage.namespace);
    const nowMs = clock.now();
    const wasAway = nowMs - answeredAtMs >= outageMs;
    answeredAtMs = nowMs;
    if (touchedAtMs === undefined || wasAway) {
      touchedAtMs = nowMs;
      provenAtMs = undefined;
      await touchReplicaSets(stage.api, stage.namespace);
    }
    if (tapfixHeardAtMs() >= touchedAtMs) provenAtMs ??= clock.now() + provenMs;
    return provenAtMs !== undefined && clock.now() >= provenAtMs;
  });
}

const fixesOf = ({ api, namespace }: DemoStage): Promise<Remediation[]> =>
  api.list<Remediation>('Remediation', namespace);

export const endedAtMs = (fix: Remediation): number =>
  Date.parse(conditionOf(fix, phaseOf(fix))?.lastTransitionTime ?? '');
