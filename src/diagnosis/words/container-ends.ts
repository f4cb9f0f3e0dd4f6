import { crashInWords } from '../../health/pod.ts';
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
  137: 'killed, SIGKILL',
  139: 'segmentation fault, SIGSEGV',
  143: 'terminated, SIGTERM',
};

const neverStarted: ReadonlySet<string> = new Set(['StartError', 'ContainerCannotRun', 'RunContainerError']);

/** The phrase of the kernel, whoever passed it on. It shows nothing else of a text that may be a log. */
const isOtherArchitecture = (text: string): boolean => /exec format error/i.test(text);
const otherArchitecture = 'its binary is built for another architecture (exec format error)';

/**
 * Pure. Why the runtime could not start it: `exec: "/bin/shpo": no such file or directory`. The kubelet wraps that in
 * the names of every layer that passed it on.
 */
export function startInWords(message: string): string {
  if (isOtherArchitecture(message)) return otherArchitecture;
  const [, program, why] = /exec: "([^"\n]{1,120})": (?:stat [^:\n]{1,200}: )?([^\n]{1,200})/.exec(message) ?? [];
  if (program !== undefined) return line(`exec: "${program}": ${why}`, 240);
  const layers =
    /^.*(?:unable to start container process|OCI runtime create failed|failed to create shim task|failed to create containerd task): /s;
  return line(message.replace(layers, ''), 240);
}

/** The words of a shell for a command that it does not find: "sh: 1: shpo: not found". */
const notFound = /(?:^|: )([\w./+-]{1,80}): (?:command )?not found/m;

/** The exit codes by which a shell says that it could not run a command. */
function shellInWords({ state, program, lastWords }: ContainerFacts): string | undefined {
  const { exitCode } = state.ended ?? {};
  if (exitCode === 126) return program ? `${program} cannot be executed` : 'its command cannot be executed';
  if (exitCode !== 127) return undefined;
  const named = notFound.exec(lastWords)?.[1] ?? program;
  return named ? `command ${named} not found` : 'a command that it runs was not found';
}

/** Pure. "container app exits 139 (segmentation fault, SIGSEGV) after 20 s" */
export function endInWords(container: ContainerFacts): string {
  const { state, ending } = container;
  const { ended, name } = state;
  if (ended && neverStarted.has(ended.reason)) {
    const why = startInWords(redact(ending));
    return `container ${name} cannot be started${why ? `: ${why}` : ''}`;
  }
  const meaning = ended ? (signals[ended.exitCode] ?? shellInWords(container)) : undefined;
  const said = crashInWords(state).replace(/exits \d+/, (words) => (meaning ? `${words} (${meaning})` : words));
  return isOtherArchitecture(ending) ? `${said}: ${otherArchitecture}` : said;
}

const shortWords = 200;

/** The termination message of a container, as one line. What the kubelet wrote of a failed start is not its own. */
export function lastWordsOf({ lastWords, state }: ContainerFacts): string | undefined {
  if (neverStarted.has(state.ended?.reason ?? '')) return undefined;
  return line(redact(lastWords), shortWords) || undefined;
}

/** Pure. `its last words: "no database"`: nobody else answers for what a container writes. */
export function lastWordsInWords(container: ContainerFacts): string | undefined {
  const words = lastWordsOf(container);
  return words && `its last words: "${words.replaceAll('"', "'")}"`;
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
  const worst = new Map<string, ContainerFacts>();
  for (const container of ended) {
    const { name, restarts, ended: end } = container.state;
    if ((worst.get(name)?.state.restarts ?? -1) < restarts && end?.exitCode !== 0) worst.set(name, container);
  }
  return [...worst.values()]
    .slice(0, mostContainers)
    .map((container) => `${endInWords(container)}, ${counted(container.state.restarts, 'restart')}`);
}

type Rule = [RegExp, (match: RegExpExecArray) => string];

/** "HTTP 500", "connection refused on port 8080 (/healthz)": the result of the probe, from kubelet's message. */
const probeRules: readonly Rule[] = [
  [/server gave HTTP response to HTTPS client/, () => 'asks for HTTPS, the server speaks HTTP'],
  [/malformed HTTP response "\\x15\\x03/, () => 'asks for HTTP, the server speaks HTTPS'],
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
