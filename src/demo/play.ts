import { wrap } from '../channels/console/console-text.ts';
import { conditionOf, isOver, phaseOf, type Remediation } from '../kube/remediation.ts';
import type { Clock } from '../lib/clock.ts';
import { spokenDuration } from '../lib/duration.ts';
import { UserError } from '../lib/errors.ts';
import { counted } from '../lib/text.ts';
import type { Act } from './acts.ts';
import type { DemoChannel } from './channel.ts';
import type { Screen } from './screen.ts';
import { inWords, isOpen, openShop, readShop, type Ready, shop } from './shop.ts';
import type { Stage } from './stage.ts';
import { waitUntil } from './wait.ts';

export interface PlayDeps {
  stage: Stage;
  acts: readonly Act[];
  clock: Clock;
  screen: Screen;
  channel: DemoChannel;
  /** Presses Approve by itself. */
  yes: boolean;
  /** So long a version must have run before tapfix takes it for a healthy one. */
  provenMs: number;
  signal: AbortSignal;
}

/** What became of an act, for the summary. */
export interface Scene {
  act: Act;
  brokeAtMs: number;
  shownAtMs?: number;
  /** Its last state; none when tapfix said nothing. */
  fix?: Remediation;
}

/** Time to read before the demo presses a key itself. */
const readingMs = 1_500;
const mostMs = 180_000;
const lastWordMs = 150_000;

/** The acts, one after the other; ends early when it is asked to stop. */
export async function play(deps: PlayDeps): Promise<Scene[]> {
  const { stage, acts, screen, signal } = deps;
  await openShop(stage);
  const parts = await untilOpen(deps, `The shop opens: ${counted(shop.length, 'workload')}`);
  if (signal.aborted) return [];
  screen.say(`The shop is well: ${inWords(parts)}.`);
  const scenes: Scene[] = [];
  for (const [index, act] of acts.entries()) {
    await pause(deps, deps.provenMs, 'tapfix sees how the shop does when it is well');
    if (signal.aborted) break;
    const number = acts.length > 1 ? `Act ${index + 1} of ${acts.length}. ` : '';
    screen.say(`\n${wrap(`${number}${act.title}`, '', '').join('\n')}\n`);
    const scene = await playAct(act, deps);
    scenes.push(scene);
    if (signal.aborted || !scene.fix) break;
    const isLast = index === acts.length - 1;
    if (phaseOf(scene.fix) !== 'Recovered' && !isLast) await startOver(act, deps);
  }
  return scenes;
}

async function playAct(act: Act, deps: PlayDeps): Promise<Scene> {
  const { stage, clock, signal, screen, channel } = deps;
  const before = new Set((await fixesOf(stage)).map(({ metadata }) => metadata.uid));
  const brokeAtMs = clock.now();
  await act.break(stage, clock, signal);
  const current = async (): Promise<Remediation | undefined> => {
    const fixes = (await fixesOf(stage)).filter(({ metadata }) => !before.has(metadata.uid));
    const replaced = new Set(fixes.map(({ spec }) => spec.follows?.uid));
    return fixes.find(({ metadata }) => !replaced.has(metadata.uid));
  };
  if (!(await wait(deps, 'Waiting for tapfix to notice', () => channel.shown() !== undefined)))
    return { act, brokeAtMs };
  const shownAtMs = clock.now();
  const fix = await decide(current, deps);
  channel.close();
  if (signal.aborted) screen.settle();
  return { act, brokeAtMs, shownAtMs, ...(fix && { fix }) };
}

/** Until it is over, whoever decides it and however. */
async function decide(
  current: () => Promise<Remediation | undefined>,
  { channel, yes, clock, signal }: PlayDeps,
): Promise<Remediation | undefined> {
  let fix: Remediation | undefined;
  let offeredAtMs: number | undefined;
  const isDone = async (): Promise<boolean> => {
    fix = await current();
    const key = channel.keys().find((one) => one === 'a' || one === 'y');
    if (!key) offeredAtMs = undefined;
    else offeredAtMs ??= clock.now();
    if (yes && key && clock.now() - offeredAtMs! >= readingMs) {
      offeredAtMs = undefined;
      await channel.press(key);
    }
    return fix !== undefined && (isOver(fix) || !fix.spec.action);
  };
  await waitUntil(isDone, { clock, signal, forMs: yes ? mostMs : Number.POSITIVE_INFINITY });
  // The last word is on its way to the card; after an outage, until a watch that is dead is given up and begun again.
  await waitUntil(() => isSettled(channel), { clock, signal, forMs: lastWordMs });
  return fix;
}

const canBeDecided = (channel: DemoChannel): boolean => channel.keys().some((key) => key !== 'g');

function isSettled(channel: DemoChannel): boolean {
  const [card] = channel.shown()?.cards ?? [];
  return card === undefined || (!canBeDecided(channel) && !['yellow', 'blue'].includes(card.dot));
}

/** Nobody wanted the fix, or it did not help. */
async function startOver(act: Act, deps: PlayDeps): Promise<void> {
  deps.screen.say('\nThe demo puts the shop right by itself, so that the next act begins well.');
  await act.mend(deps.stage);
  await untilOpen(deps, 'The shop comes back');
}

/** What is not well is not shown as if it were. */
async function untilOpen(deps: PlayDeps, words: string): Promise<Ready[]> {
  const { stage, signal } = deps;
  let parts: Ready[] = [];
  const ok = await wait(deps, words, async () => isOpen((parts = await readShop(stage.api, stage.namespace))));
  if (!ok && !signal.aborted)
    throw new UserError(`the shop is not well after ${spokenDuration(mostMs)}: ${inWords(parts)}`);
  return parts;
}

/** Shows that it goes on, and for how long, while nothing else is to be seen. */
async function wait(deps: PlayDeps, words: string, isTrue: () => Promise<boolean> | boolean): Promise<boolean> {
  const { clock, screen, signal } = deps;
  const beganMs = clock.now();
  if (!screen.inPlace) screen.say(`${words} ...`);
  const { ok, lastError } = await waitUntil(
    async () => {
      const done = await isTrue();
      const seconds = Math.floor((clock.now() - beganMs) / 1000);
      if (!done) screen.show(`${words} ... ${seconds > 0 ? `${seconds} s` : ''}`.trimEnd());
      return done;
    },
    { clock, signal, forMs: mostMs },
  );
  screen.show('');
  if (!ok && lastError) screen.say(lastError);
  return ok;
}

async function pause(deps: PlayDeps, ms: number, words: string): Promise<void> {
  const untilMs = deps.clock.now() + ms;
  await wait(deps, words, () => deps.clock.now() >= untilMs);
}

const fixesOf = ({ api, namespace }: Stage): Promise<Remediation[]> => api.list<Remediation>('Remediation', namespace);

export const endedAtMs = (fix: Remediation): number =>
  Date.parse(conditionOf(fix, phaseOf(fix))?.lastTransitionTime ?? '');
