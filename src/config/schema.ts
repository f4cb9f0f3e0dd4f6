import { z } from 'zod';
import { approval } from './approval.ts';
import { channels } from './channels.ts';
import { classes, extraReasons, ignore, reportUnknownClasses } from './classes.ts';
import { anyText, duration, oneOf, url, whole, yesOrNo } from './fields.ts';
import { namespaces } from './namespaces.ts';
import { actionNames } from './vocabulary.ts';

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

const isObject = ({ value }: { value: unknown }): boolean => typeof value === 'object' && value !== null;

/** The contract of the file: every key, its limits and its default, as the file writes them. */
export const configSchema = z
  .strictObject({
    cluster: anyText('a name', 'such as cluster: prod-eu'),
    namespaces,
    ignore,
    classes,
    extraReasons,
    notices: z
      .strictObject({
        coalesce: duration('0s', '60s').prefault('5s'),
        maxPerMinute: whole(1, 20).prefault(4),
        storm: z.strictObject({ incidents: whole(1, 1000).prefault(10) }).prefault({}),
        reminder: duration('0s', '24h').prefault('10m'),
      })
      .prefault({}),
    approval,
    actions: z.strictObject({ allow: z.array(oneOf(actionNames)).prefault([...actionNames]) }).prefault({}),
    recovery: z
      .strictObject({
        stableFor: duration('1s', '10m').prefault('30s'),
        timeout: duration('1s', '24h').prefault('10m'),
      })
      .prefault({}),
    retention: duration('1m', '8760h').prefault('168h'),
    diagnosis: z.strictObject({ logs: yesOrNo.prefault(false) }).prefault({}),
    channels,
    heartbeat: z
      .strictObject({ url: url({ orEmpty: true }).prefault(''), every: duration('1s', '24h').prefault('1m') })
      .prefault({}),
    server: z
      .strictObject({
        host: anyText('an address', 'such as 0.0.0.0, which is every address of the machine').prefault('0.0.0.0'),
        port: whole(0, 65535).prefault(8080),
      })
      .prefault({}),
  })
  .superRefine(reportUnknownClasses, { when: isObject }) satisfies z.ZodType<Config>;
