import { line } from '../../lib/plain.ts';

type Rule = [RegExp, (match: RegExpExecArray) => string];

/** "HTTP 500", "connection refused on port 8080 (/healthz)": what the probe got, from kubelet's words of it. */
const rules: readonly Rule[] = [
  [/HTTP probe failed with statuscode: (\d+)/, ([, code]) => `HTTP ${code}`],
  [/Get "https?:\/\/(?:\[[^\]]*\]|[^/:"]*):(\d+)(\/[^"?]*)?[^"]*": [\s\S]*connection refused/, ([, port, path]) => `connection refused on port ${port}${at(path)}`],
  [/Get "https?:\/\/(?:\[[^\]]*\]|[^/:"]*):(\d+)(\/[^"?]*)?[^"]*": [\s\S]*(?:deadline exceeded|Client\.Timeout|i\/o timeout)/, ([, port, path]) => `no answer in time on port ${port}${at(path)}`],
  [/dial tcp \S*:(\d+): [\s\S]*connection refused/, ([, port]) => `connection refused on port ${port}`],
  [/dial tcp \S*:(\d+): [\s\S]*i\/o timeout/, ([, port]) => `no answer in time on port ${port}`],
  [/service unhealthy \(responded with "([^"]+)"\)/, ([, status]) => `gRPC says ${status}`],
  [/does not implement the grpc health protocol/, () => 'the server knows no gRPC health checks'],
  [/timeout: (?:failed to connect service "[^"]*?:(\d+)"|health rpc did not complete) within (\S+?)(?::|$)/, ([, port, time]) => `no gRPC answer within ${time}${port ? ` on port ${port}` : ''}`],
  [/command "?(.*?)"? timed out/, () => 'its command takes too long'],
]; // prettier-ignore

const at = (path: string | undefined): string => (path && path !== '/' ? ` (${line(path, 60)})` : '');

/** Pure. "Readiness probe failed: HTTP probe failed with statuscode: 500" to "readiness probe: HTTP 500". */
export function probeInWords(message: string): string {
  const [, kind, said = ''] = /^(Readiness|Liveness|Startup) probe (?:failed|errored[^:]*):\s*([\s\S]*)$/.exec(message) ?? []; // prettier-ignore
  if (kind === undefined) return line(message, 200);
  for (const [pattern, words] of rules) {
    const match = pattern.exec(said);
    if (match) return `${kind.toLowerCase()} probe: ${words(match)}`;
  }
  const own = line(said, 200);
  return `${kind.toLowerCase()} probe failed${own ? `: ${own}` : ''}`;
}
