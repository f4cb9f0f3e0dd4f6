import { crashInWords } from '../../health/loop.ts';
import type { ContainerView } from '../../kube/views.ts';
import { counted } from '../../lib/counted.ts';
import { line } from '../../lib/plain.ts';
import type { ContainerFacts, PodFacts } from '../pods.ts';
import { redactProse } from './prose.ts';

/** 128 and the number of the signal that ended it. */
const signals: Readonly<Record<number, string>> = {
  129: 'SIGHUP',
  130: 'SIGINT',
  132: 'SIGILL',
  134: 'SIGABRT',
  135: 'SIGBUS',
  136: 'SIGFPE',
  137: 'SIGKILL',
  139: 'SIGSEGV',
  143: 'SIGTERM',
};

const neverStarted: ReadonlySet<string> = new Set(['StartError', 'ContainerCannotRun', 'RunContainerError']);

/** Pure. "container app exits 139 (SIGSEGV) after 20 s" */
export function endInWords(container: ContainerView): string {
  const { ended, name } = container;
  if (ended && neverStarted.has(ended.reason)) return `container ${name} cannot be started`;
  const signal = ended ? signals[ended.exitCode] : undefined;
  return crashInWords(container).replace(/exits \d+/, (words) => (signal ? `${words} (${signal})` : words));
}

const shortWords = 200;

/** What a container said when it ended, if it is short enough to be meant for reading. */
export function lastWordsOf({ lastWords }: ContainerFacts): string | undefined {
  const words = line(redactProse(lastWords), lastWords.length);
  return words && words.length <= shortWords ? words : undefined;
}

const mostContainers = 2;

/** Of each container that ended, but for the one that the diagnosis is about: "container proxy exits 137 (SIGKILL) after 2 s, 4 restarts". */
export function othersInWords(pods: readonly PodFacts[], told: string): string[] {
  const ended = pods
    .flatMap(({ containers }) => containers)
    .filter(({ state }) => state.ended && !state.ready && state.name !== told);
  const worst = new Map<string, ContainerView>();
  for (const { state } of ended)
    if ((worst.get(state.name)?.restarts ?? -1) < state.restarts && state.ended?.exitCode !== 0)
      worst.set(state.name, state);
  return [...worst.values()]
    .slice(0, mostContainers)
    .map((state) => `${endInWords(state)}, ${counted(state.restarts, 'restart')}`);
}
