import { crashInWords } from '../../health/pod.ts';
import type { ContainerView } from '../../kube/views.ts';
import { redact } from '../../lib/redact.ts';
import { counted, line } from '../../lib/text.ts';
import type { ContainerFacts, PodFacts } from '../pods.ts';

/** 128 plus the number of the signal that ended it. */
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

/** The termination message of a container, if it is short enough to be meant for reading. */
export function lastWordsOf({ lastWords }: ContainerFacts): string | undefined {
  const words = line(redact(lastWords), lastWords.length);
  return words && words.length <= shortWords ? words : undefined;
}

const mostContainers = 2;

/**
 * For each container that ended, except the one that the diagnosis is about: "container proxy exits 137 (SIGKILL) after
 * 2 s, 4 restarts".
 */
export function othersInWords(pods: readonly PodFacts[], named: string): string[] {
  const ended = pods
    .flatMap(({ containers }) => containers)
    .filter(({ state }) => state.ended && !state.ready && state.name !== named);
  const worst = new Map<string, ContainerView>();
  for (const { state } of ended)
    if ((worst.get(state.name)?.restarts ?? -1) < state.restarts && state.ended?.exitCode !== 0)
      worst.set(state.name, state);
  return [...worst.values()]
    .slice(0, mostContainers)
    .map((state) => `${endInWords(state)}, ${counted(state.restarts, 'restart')}`);
}

type Rule = [RegExp, (match: RegExpExecArray) => string];

/** "HTTP 500", "connection refused on port 8080 (/healthz)": the result of the probe, from kubelet's message. */
const probeRules: readonly Rule[] = [
  [/HTTP probe failed with statuscode: (\d+)/, ([, code]) => `HTTP ${code}`],
  [
    /Get "https?:\/\/(?:\[[^\]]*\]|[^/:"]*):(\d+)(\/[^"?]*)?[^"]*": [\s\S]*connection refused/,
    ([, port, path]) => `connection refused on port ${port}${at(path)}`,
  ],
  [
    /Get "https?:\/\/(?:\[[^\]]*\]|[^/:"]*):(\d+)(\/[^"?]*)?[^"]*": [\s\S]*(?:deadline exceeded|Client\.Timeout|i\/o timeout)/,
    ([, port, path]) => `no answer in time on port ${port}${at(path)}`,
  ],
  [/dial tcp \S*:(\d+): [\s\S]*connection refused/, ([, port]) => `connection refused on port ${port}`],
  [/dial tcp \S*:(\d+): [\s\S]*i\/o timeout/, ([, port]) => `no answer in time on port ${port}`],
  [/service unhealthy \(responded with "([^"]+)"\)/, ([, status]) => `gRPC says ${status}`],
  [/does not implement the grpc health protocol/, () => 'the server knows no gRPC health checks'],
  [
    /timeout: (?:failed to connect service "[^"]*?:(\d+)"|health rpc did not complete) within (\S+?)(?::|$)/,
    ([, port, time]) => `no gRPC answer within ${time}${port ? ` on port ${port}` : ''}`,
  ],
  [/command "?(.*?)"? timed out/, () => 'its command takes too long'],
];

const at = (path: string | undefined): string => (path && path !== '/' ? ` (${line(path, 60)})` : '');

/** Pure. "Readiness probe failed: HTTP probe failed with statuscode: 500" to "readiness probe: HTTP 500". */
export function probeInWords(message: string): string {
  const [, kind, said = ''] =
    /^(Readiness|Liveness|Startup) probe (?:failed|errored[^:]*):\s*([\s\S]*)$/.exec(message) ?? [];
  if (kind === undefined) return line(message, 200);
  for (const [pattern, words] of probeRules) {
    const match = pattern.exec(said);
    if (match) return `${kind.toLowerCase()} probe: ${words(match)}`;
  }
  const own = line(said, 200);
  return `${kind.toLowerCase()} probe failed${own ? `: ${own}` : ''}`;
}
