import { parseDuration } from '../../lib/duration.ts';
import type { Container, PodObject } from '../common/shapes.ts';

/** How a container, or its pod as a whole, behaves on a simulated node. */
export type Behaviour =
  | { do: 'run'; readyAfterMs?: number }
  | { do: 'exit'; code: number; afterMs: number; reason?: string }
  | { do: 'unready' }
  | { do: 'liveness'; afterMs: number }
  | { do: 'image-missing' }
  | { do: 'config-missing'; what: string }
  | { do: 'unknown'; text: string }
  | PodTrouble;

/** A trouble of the whole pod: it cannot start, or it is evicted. */
export type PodTrouble =
  { do: 'sandbox' } | { do: 'volume'; secret: string } | { do: 'evicted'; afterMs: number } | { do: 'hang' };

/**
 * The annotation of a pod or a pod template that sets its behaviour. It is a keyword, sometimes with a value. `NAME:` before
 * it names the container; the default is the first. Commas separate several: `crash-after=20s, migrate:exit-0=3s`.
 */
const behaveAnnotation = 'sim.tapfix.dev/behave';

const soonMs = 300;

/** The behaviour of each keyword, given its value as text and as a duration. */
const keywords: Record<string, (value: string, ms: number | undefined) => Behaviour> = {
  run: () => ({ do: 'run' }),
  'ready-after': (_value, ms = 5_000) => ({ do: 'run', readyAfterMs: ms }),
  unready: () => ({ do: 'unready' }),
  crash: () => ({ do: 'exit', code: 1, afterMs: soonMs }),
  'crash-after': (_value, ms = 60_000) => ({ do: 'exit', code: 1, afterMs: ms }),
  oom: (_value, ms = soonMs) => ({ do: 'exit', code: 137, afterMs: ms, reason: 'OOMKilled' }),
  'exit-0': (_value, ms = 1_000) => ({ do: 'exit', code: 0, afterMs: ms }),
  'exit-1': (_value, ms = 1_000) => ({ do: 'exit', code: 1, afterMs: ms }),
  liveness: (_value, ms = 3_000) => ({ do: 'liveness', afterMs: ms }),
  'image-missing': () => ({ do: 'image-missing' }),
  'config-missing': (value) => ({ do: 'config-missing', what: missing(value || 'missing') }),
  sandbox: () => ({ do: 'sandbox' }),
  volume: (value) => ({ do: 'volume', secret: value || 'missing' }),
  evicted: (_value, ms = 30_000) => ({ do: 'evicted', afterMs: ms }),
  hang: () => ({ do: 'hang' }),
};

/** `NAME` is a ConfigMap, `secret/NAME` a Secret. */
const missing = (value: string): string =>
  value.startsWith('secret/')
    ? `secret "${value.slice('secret/'.length)}" not found`
    : `configmap "${value}" not found`;

export function parseBehaviour(text: string): Behaviour {
  const [, keyword = '', value = ''] = /^([a-z0-9-]+)(?:=(.+))?$/.exec(text.trim()) ?? [];
  const ms = value ? parseDuration(value) : undefined;
  const make = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
  const wantsTime = /-after$|^exit-|^oom$|^liveness$|^evicted$/.test(keyword);
  return !make || (wantsTime && value && ms === undefined) ? { do: 'unknown', text } : make(value, ms);
}

/** The behaviour that the annotation gives this container, if any. */
export function annotatedBehaviour({ metadata, spec }: PodObject, { name }: Container): Behaviour | undefined {
  const text = metadata.annotations?.[behaveAnnotation];
  const first = spec?.containers?.[0]?.name;
  for (const part of text?.split(',') ?? []) {
    const [, target, behaviour] = /^\s*(?:([a-z0-9-]+):)?(.*)$/.exec(part) ?? [];
    if ((target ?? first) === name) return parseBehaviour(behaviour ?? '');
  }
  return undefined;
}

export const isPodTrouble = (behaviour: Behaviour): behaviour is PodTrouble =>
  ['sandbox', 'volume', 'evicted', 'hang'].includes(behaviour.do);

/** How long things take on a simulated node. The default back-offs are those of kubelet. */
export interface KubeletTiming {
  /** The time from a pod's arrival until its containers are started. */
  startMs: number;
  /** The time until kubelet notices that a container has ended. */
  noticeMs: number;
  /** The time between two failing attempts, and between two events about a back-off. */
  resyncMs: number;
  /** The time from SIGTERM to the end of a container. */
  stopMs: number;
  backoffMs: number;
  longestBackoffMs: number;
  /** A container that ran this long gets the shortest back-off again. */
  forgiveAfterMs: number;
  heartbeatMs: number;
}

export const usualTiming: KubeletTiming = {
  startMs: 1_000,
  noticeMs: 1_000,
  resyncMs: 12_000,
  stopMs: 500,
  backoffMs: 10_000,
  longestBackoffMs: 300_000,
  forgiveAfterMs: 600_000,
  heartbeatMs: 10_000,
};
