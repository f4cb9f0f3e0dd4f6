import { parseDuration } from '../../lib/duration.ts';
import type { Container, PodObject } from '../common/shapes.ts';

/** How a container, or its pod as a whole, behaves on a node that only pretends to run it. */
export type Behaviour =
  | { do: 'run'; readyAfterMs?: number }
  | { do: 'exit'; code: number; afterMs: number; reason?: string }
  | { do: 'unready' }
  | { do: 'liveness'; afterMs: number }
  | { do: 'image-missing' }
  | { do: 'config-missing'; what: string }
  | { do: 'unknown'; text: string }
  | PodTrouble;

/** What keeps, or throws, a pod off its node, whatever its containers are like. */
export type PodTrouble =
  { do: 'sandbox' } | { do: 'volume'; secret: string } | { do: 'evicted'; afterMs: number } | { do: 'hang' };

/**
 * On a pod, and so in a template: how it behaves. One word, some with a value; `NAME:` before it names the container,
 * otherwise it is the first. Several are separated by commas: `crash-after=20s, migrate:exit-0=3s`.
 */
export const behaveAnnotation = 'sim.tapfix.dev/behave';

const soonMs = 300;

/** One row per word: what it becomes, given its value and that value as a duration. */
const words: Record<string, (value: string, ms: number | undefined) => Behaviour> = {
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
  const [, word = '', value = ''] = /^([a-z0-9-]+)(?:=(.+))?$/.exec(text.trim()) ?? [];
  const ms = value ? parseDuration(value) : undefined;
  const make = Object.hasOwn(words, word) ? words[word] : undefined;
  const wantsTime = /-after$|^exit-|^oom$|^liveness$|^evicted$/.test(word);
  return !make || (wantsTime && value && ms === undefined) ? { do: 'unknown', text } : make(value, ms);
}

/** What the annotation says of this container; undefined when it says nothing. */
export function annotatedBehaviour({ metadata, spec }: PodObject, { name }: Container): Behaviour | undefined {
  const text = metadata.annotations?.[behaveAnnotation];
  const first = spec?.containers?.[0]?.name;
  for (const part of text?.split(',') ?? []) {
    const [, target, words] = /^\s*(?:([a-z0-9-]+):)?(.*)$/.exec(part) ?? [];
    if ((target ?? first) === name) return parseBehaviour(words ?? '');
  }
  return undefined;
}

export const isPodTrouble = (behaviour: Behaviour): behaviour is PodTrouble =>
  ['sandbox', 'volume', 'evicted', 'hang'].includes(behaviour.do);
