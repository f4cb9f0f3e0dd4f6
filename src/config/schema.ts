/** The configuration after loading: defaults filled in, every duration in milliseconds. */
export interface Approver {
  name: string;
  telegram?: number;
  slack?: string;
  namespaces?: string[];
  kubernetesUser?: string;
  kubernetesGroups: string[];
}
export interface Route {
  namespaces: string[];
  chat?: string;
  thread?: string;
}
export interface Config {
  cluster: string;
  namespaces: { include: string[]; exclude: string[] };
  ignore: { namespace?: string; kind?: string; name?: string; class?: string }[];
  classes: Record<string, { enabled?: boolean; for?: number; severity?: 'critical' | 'warning' | 'info' }>;
  extraReasons: { reason: string; class: string; severity: 'critical' | 'warning' | 'info'; for: number }[];
  notices: { coalesce: number; maxPerMinute: number; storm: { incidents: number }; reminder: number };
  approval: { ttl: number; confirm: string[]; approvers: Approver[] };
  actions: { allow: string[] };
  recovery: { stableFor: number; timeout: number };
  retention: number;
  diagnosis: { logs: boolean };
  channels: {
    telegram?: { chat: string; routes: Route[]; apiRoot: string };
    slack?: { channel: string; routes: Route[]; apiUrl: string };
    console?: Record<string, never>;
  };
  heartbeat: { url: string; every: number };
  server: { host: string; port: number };
}
