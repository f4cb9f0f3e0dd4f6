import { runTapfix } from '../src/app/app.ts';
import { parseConfig } from '../src/config/load.ts';
import { createLedger, type Ledger } from '../src/incidents/ledger.ts';
import { createApi } from '../src/kube/client.ts';
import { systemClock } from '../src/lib/clock.ts';
import { createLog } from '../src/lib/log.ts';
import { createMetrics } from '../src/ops/metrics.ts';
import { createReadiness } from '../src/ops/readiness.ts';
import { serveCounts } from './counts.ts';

/** Street 1 as the watcher runs it, with a ledger that is looked at: a signal is decided once it has ended or waits. */
const server = `http://127.0.0.1:${process.argv[2]}`;
const parsed = parseConfig(
  JSON.stringify({
    cluster: 'bench',
    namespaces: { include: ['*'] },
    classes: { CrashLoop: { for: '24h' } },
    channels: { console: {} },
  }),
  'bench',
);
if (!parsed.ok) throw new Error('the configuration of the bench is wrong');
const { config } = parsed;
const counts = serveCounts();
const inner = createLedger({ clock: systemClock, count: () => undefined });
const ledger: Ledger = {
  ...inner,
  ended(outcome, about, times) {
    inner.ended(outcome, about, times);
    counts.add(times ?? 1);
  },
  waits(key, about, times) {
    inner.waits(key, about, times);
    counts.add(times ?? 1);
  },
  dropped(outcome) {
    inner.dropped(outcome);
    counts.add(1);
  },
};
const kubeConfig = {
  getCurrentCluster: () => ({ name: 'bench', server, skipTLSVerify: true }),
  applyToHTTPSOptions: async () => undefined,
};
await runTapfix({
  role: 'watcher',
  api: createApi({ kubeConfig }),
  clock: systemClock,
  log: createLog({ level: 'silent' }),
  current: () => config,
  ownNamespace: 'tapfix',
  identity: 'bench',
  timeZone: 'UTC',
  metrics: createMetrics(),
  readiness: createReadiness(),
  channels: new Map(),
  ledger,
  signal: new AbortController().signal,
});
