import { scrub } from '../lib/log.ts';
import type { Finding, Path } from './problem.ts';

/** Tokens belong in the environment: a file like this ends up in git. Values are never repeated. */
export function misplacedTokens(value: unknown, path: Path = []): Finding[] {
  if (typeof value === 'string' || typeof value === 'number') {
    const named = /(token|secret|password)$/i.test(String(path.findLast((step) => typeof step === 'string') ?? ''));
    return named || scrub(String(value)) !== String(value) ? [refusal(path, String(value))] : [];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => misplacedTokens(item, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(scrub(key) === key ? [] : [refusal([...path, key], key)]),
    ...misplacedTokens(inner, [...path, key]),
  ]);
}

function refusal(path: Path, value: string): Finding {
  const name = variableFor(path, value);
  return {
    path,
    message: 'a token does not belong in this file',
    hint: `remove it and set ${name} or ${name}_FILE in the environment`,
  };
}

function variableFor(path: Path, value: string): string {
  if (value.startsWith('xapp-') || path.some((step) => /app_?token/i.test(String(step)))) return 'SLACK_APP_TOKEN';
  return value.startsWith('xox') || path.some((step) => /slack/i.test(String(step)))
    ? 'SLACK_BOT_TOKEN'
    : 'TELEGRAM_BOT_TOKEN';
}
