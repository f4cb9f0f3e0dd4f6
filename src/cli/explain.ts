import { defaultConfig, parseConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { loadWrittenConfig } from '../config/written-config.ts';
import { gather, type GatherDeps } from '../explain/examine.ts';
import { explained, ledgerLines, pageOf, rows } from '../explain/explanation.ts';
import { parseTarget } from '../explain/findings.ts';
import { partsOf } from '../incidents/key.ts';
import { ApiError, hasCode, ifForbidden, isForbidden, type KubeObject, type Reader, Unreachable } from '../kube/api.ts';
import { createApi } from '../kube/client.ts';
import { loadKubeConfig } from '../kube/kubeconfig.ts';
import { mutesIn, mutesKey, mutesName } from '../kube/mutes.ts';
import { systemClock } from '../lib/clock.ts';
import { localTimeZone } from '../lib/duration.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { timesIn } from '../notices/cards/times.ts';
import { readLedger } from '../ops/server.ts';
import type { Rules } from '../signals/filter.ts';

export interface ExplainOptions {
  target: string;
  configFile?: string;
  context?: string;
  /** The address of a running watcher's local server. */
  watcher?: string;
}

/** `tapfix explain`: why there is, or is not, a message about something. It only reads and changes nothing. */
export async function runExplain(options: ExplainOptions, io: { print(text: string): void }): Promise<number> {
  const target = parseTarget(options.target);
  const base = options.watcher === undefined ? undefined : watcherAddress(options.watcher);
  const own = options.configFile === undefined ? undefined : await loadWrittenConfig(options.configFile);
  const api = createApi({ kubeConfig: loadKubeConfig({ context: options.context }) });
  const reader: Reader = { get: api.get, list: api.list };
  const ownNamespace = process.env['POD_NAMESPACE'] || 'tapfix';
  try {
    const { config, note } = own ? { config: own, note: '' } : await clusterConfig(reader, ownNamespace);
    const rules: Rules = { ...config, muted: await mutedNow(reader, ownNamespace) };
    const deps: GatherDeps = { reader, clock: systemClock, config: rules, ownNamespace };
    const findings = await gather(deps, target);
    const context = { nowMs: systemClock.now(), timeZone: localTimeZone() };
    const books = await booksOf(
      findings.cases[0].key,
      base ?? `http://127.0.0.1:${config.server.localPort}`,
      ownNamespace,
    );
    const lines = [...explained(findings, context), ...rows('Watcher', books), ...rows('Config', note ? [note] : [])];
    io.print(lines.join('\n'));
    return 0;
  } catch (error) {
    throw error instanceof ApiError || error instanceof Unreachable ? new UserError(refusal(error), 1, error) : error;
  } finally {
    await api.close();
  }
}

function refusal(error: Error): string {
  if (isForbidden(error)) return `you may not read this: ${error.message}`;
  return hasCode(error, 401) ? `the API server refused your credentials: ${error.message}` : error.message;
}

function watcherAddress(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.origin;
  throw new UserError(`--watcher ${JSON.stringify(text)} is not an address: write it like http://127.0.0.1:8081`, 2);
}

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

/** The configuration of the watcher in the cluster; if there is none, every namespace and all defaults. */
export async function clusterConfig(
  reader: Pick<Reader, 'get'>,
  namespace: string,
): Promise<{ config: Config; note: string; isDefault: boolean }> {
  const where = `ConfigMap ${namespace}/tapfix-config`;
  const map = await readConfigMap(reader, namespace, 'tapfix-config');
  const parsed = parseConfig(map?.data?.['config.yaml'] ?? '', where);
  if (map && parsed.ok) return { config: parsed.config, note: `from ${where}`, isDefault: false };
  const why = map ? `${where} is not valid` : `${where} does not exist, or you may not read it`;
  return {
    config: defaultConfig(),
    note: `${why}: the defaults and every namespace are used; name another with --config FILE`,
    isDefault: true,
  };
}

/** The globs that people muted in chat; empty for a user who may not read them. */
async function mutedNow(reader: Reader, namespace: string): Promise<string[]> {
  const map = await readConfigMap(reader, namespace, mutesName);
  return mutesIn(map?.data?.[mutesKey], systemClock.now()).map(({ glob }) => glob);
}

/** undefined if it does not exist, or you may not read it. */
async function readConfigMap(
  reader: Pick<Reader, 'get'>,
  namespace: string,
  name: string,
): Promise<ConfigMap | undefined> {
  return reader.get<ConfigMap>({ kind: 'ConfigMap', namespace, name }).catch(ifForbidden(undefined));
}

async function booksOf(key: string, base: string, ownNamespace: string): Promise<string[]> {
  const { host, port } = new URL(base);
  try {
    const page = pageOf(await readLedger(base, partsOf(key)));
    if (page) return ledgerLines(page, timesIn(localTimeZone(), systemClock.now()));
    return [`what answers at ${host} is not tapfix: name the address with --watcher URL`];
  } catch (error) {
    const forward = `kubectl -n ${ownNamespace} port-forward deploy/tapfix-watcher ${port || '8081'}`;
    return [`the watcher's ledger was not reached at ${host} (${messageOf(error)}): ${forward}`];
  }
}
