import { ApiError, isForbidden, type LogReader, Unreachable } from '../kube/api.ts';
import type { ContainerView } from '../kube/views.ts';
import { line } from '../lib/text.ts';
import { redact } from '../lib/redact.ts';

const asked = { tailLines: 40, limitBytes: 16_384 };
const mostLines = 5;
const longestLine = 200;

export interface LoggedContainer {
  namespace: string;
  pod: string;
  container: ContainerView;
}

/**
 * The last useful lines of a container's log, redacted; the log of the crashed container, if another one runs by now.
 */
export async function readLogTail(logs: LogReader, { namespace, pod, container }: LoggedContainer): Promise<string[]> {
  const previous = container.ended !== undefined && !container.isDown;
  try {
    const text = await logs.podLog({ namespace, name: pod }, { container: container.name, previous, ...asked });
    const lines = linesIn(text ?? '');
    return lines.length > 0 ? [`last lines of the log of ${container.name}:`, ...lines] : [];
  } catch (error) {
    if (isForbidden(error)) return [`the log may not be read in ${namespace} (ClusterRole tapfix-logs)`];
    // The node may be away, or the log rotated: a card without a log is better than no card.
    if (error instanceof ApiError || error instanceof Unreachable) return [];
    throw error;
  }
}

/**
 * Pure. The text is redacted as a whole, because a key has many lines. A last line that the limit cut off is left out.
 */
export function linesIn(text: string): string[] {
  const isCut = Buffer.byteLength(text) >= asked.limitBytes;
  const whole = isCut ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
  return redact(whole)
    .split('\n')
    .map((one) => line(one, longestLine))
    .filter(Boolean)
    .slice(-mostLines)
    .map((one) => `> ${one}`);
}
