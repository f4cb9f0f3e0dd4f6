import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

/** One row per counter; a new counter needs nothing else. All names begin with tapfix_. */
const counters = {
  signals: { name: 'signals_total', help: 'Failure signals, each counted once', labels: ['outcome'] },
  incidents: { name: 'incidents_total', help: 'Incidents recorded as Remediations', labels: ['class'] },
  remediations: { name: 'remediations_total', help: 'Phases that Remediations entered', labels: ['phase'] },
  notices: { name: 'notices_total', help: 'Chat messages posted and edited', labels: ['channel', 'form', 'result'] },
  decisions: {
    name: 'decisions_total',
    help: 'Presses and commands, by result',
    labels: ['channel', 'result'],
  },
  blindness: {
    name: 'blindness_total',
    help: 'Times that tapfix could see nothing (blind), or not a part (unseen), for over a minute',
    labels: ['what'],
  },
  configReloads: {
    name: 'config_reloads_total',
    help: 'Changes of the configuration file, taken or refused',
    labels: ['result'],
  },
  heartbeats: { name: 'heartbeats_total', help: 'Pings of heartbeat.url, by result', labels: ['result'] },
} as const;

type Counters = { readonly [K in keyof typeof counters]: Counter<(typeof counters)[K]['labels'][number]> };

export interface Metrics extends Counters {
  /** `silentMs` is read at each scrape: the longest of all watches of a kind, Infinity before the first answer. */
  watchSilence(kind: string, silentMs: () => number): void;
  /** `up` is read at each scrape: whether everything of a kind was seen within the last minute. */
  watchUp(kind: string, up: () => boolean): void;
  /** `up` is read at each scrape; undefined: the channel no longer exists. */
  channelUp(channel: string, up: (() => boolean) | undefined): void;
  /** `isLeading` is read at each scrape. */
  leader(role: string, isLeading: () => boolean): void;
  /** The configuration in force; replaces the one before. */
  configInfo(hash: string): void;
  /**
   * `isSo` is read at each scrape. refused: the content of the file is not used; frozen: it is mounted so that it never
   * changes.
   */
  configTrouble(what: 'refused' | 'frozen', isSo: () => boolean): void;
  readonly contentType: string;
  text(): Promise<string>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });

  const config = new Gauge({
    name: 'tapfix_config_info',
    help: 'Always 1; the label is the hash of the configuration in force',
    labelNames: ['hash'],
    registers: [registry],
  });
  return {
    ...createCounters(registry),
    watchSilence: sampledGauge(
      registry,
      'watch_silence_seconds',
      'Seconds since the API server last sent something on a watch',
      'kind',
      (ms: number) => ms / 1000,
    ),
    watchUp: sampledGauge(registry, 'watch_up', 'Whether a watch works, or did a minute ago', 'kind', (up: boolean) =>
      up ? 1 : 0,
    ),
    channelUp: sampledGauge(
      registry,
      'channel_up',
      'Whether the chat vendor can be reached',
      'channel',
      (up: boolean) => (up ? 1 : 0),
    ),
    leader: sampledGauge(registry, 'leader', 'Whether this replica leads its role', 'role', (is: boolean) =>
      is ? 1 : 0,
    ),
    configInfo(hash) {
      config.reset();
      config.set({ hash }, 1);
    },
    configTrouble: sampledGauge(
      registry,
      'config_trouble',
      'refused: the change in the file is not used; frozen: the file is mounted so that it never changes',
      'what',
      (isSo: boolean) => (isSo ? 1 : 0),
    ),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

function createCounters(registry: Registry): Counters {
  const made = Object.entries(counters).map(([member, { name, help, labels }]) => [
    member,
    new Counter({ name: `tapfix_${name}`, help, labelNames: [...labels], registers: [registry] }),
  ]);
  return Object.fromEntries(made) as Counters;
}

/** A gauge whose values are computed at each scrape. */
function sampledGauge<T>(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  valueOf: (sample: T) => number,
) {
  const sources = new Map<string, () => T>();
  const gauge = new Gauge({
    name: `tapfix_${name}`,
    help,
    labelNames: [label],
    registers: [registry],
    collect: () => sources.forEach((sample, key) => gauge.set({ [label]: key }, valueOf(sample()))),
  });
  return (key: string, sample: (() => T) | undefined): void => {
    if (sample) sources.set(key, sample);
    else sources.delete(key);
    if (!sample) gauge.remove({ [label]: key });
  };
}
