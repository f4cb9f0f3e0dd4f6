import { actionNames, type Config } from '../../src/config/schema.ts';

/** A chat in which Ada, whom the configuration below lists, can approve. */
export const aChat: Config['channels'] = {
  telegram: { chat: '-100500', routes: [], apiRoot: 'https://api.telegram.org' },
};

/** A valid configuration; each test names only what it is about. */
export const aConfig = (over: Partial<Config> = {}): Config => ({
  cluster: 'prod-eu',
  namespaces: { include: ['*'], exclude: [] },
  ignore: [],
  classes: {},
  extraReasons: [],
  links: [],
  notices: { coalesce: 5_000, maxPerMinute: 4, storm: { incidents: 10 }, reminders: [600_000, 1_800_000, 3_600_000] },
  escalation: [],
  approval: {
    ttl: 1_800_000,
    confirm: ['DeleteResourceQuota'],
    approvers: [{ name: 'Ada', telegram: 7, kubernetesGroups: [] }],
  },
  actions: { allow: [...actionNames] },
  recovery: { stableFor: 30_000, timeout: 600_000 },
  retention: 604_800_000,
  diagnosis: { logs: false },
  channels: { console: {} },
  heartbeat: { url: '', every: 60_000 },
  leaderElection: { leaseDuration: 6_000, renewDeadline: 4_000, retryPeriod: 1_000 },
  server: { host: '127.0.0.1', port: 0, localPort: 0 },
  ...over,
});
