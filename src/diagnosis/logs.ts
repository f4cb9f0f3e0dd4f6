import { ApiError, isForbidden, type LogReader, Unreachable } from '../kube/api.ts';
import type { ContainerView } from '../kube/views.ts';
import { line } from '../lib/text.ts';
import { redactProse } from './words/container-ends.ts';

const asked = { tailLines: 40, limitBytes: 16_384 };
const mostLines = 5;
const longestLine = 200;

export interface LoggedContainer {
  namespace: string;
  pod: string;
  container: ContainerView;
}

/** The last lines of a container that are worth a look, redacted; of the one that crashed, if another runs by now. */
export async function readLogTail(logs: LogReader, { namespace, pod, container }: LoggedContainer): Promise<string[]> {
  const previous = container.ended !== undefined && !container.isDown;
  try {
    const text = await logs.podLog({ namespace, name: pod }, { container: container.name, previous, ...asked });
    const lines = linesIn(text ?? '');
    return lines.length > 0 ? [`last lines of the log of ${container.name}:`, ...lines] : [];
  } catch (error) {
    if (isForbidden(error)) return [`the log may not be read in ${namespace} (ClusterRole tapfix-logs)`];
    // A node that is away, a log that is rotated: a card without a log is better than none.
    if (error instanceof ApiError || error instanceof Unreachable) return [];
    throw error;
  }
}

/** Pure. Redacted as a whole, because a key has many lines; a last line that the limit cut through is left out. */
export function linesIn(text: string): string[] {
  const isCut = Buffer.byteLength(text) >= asked.limitBytes;
  const whole = isCut ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
  return redactProse(whole)
    .split('\n')
    .map((one) => line(one, longestLine))
    .filter(Boolean)
    .slice(-mostLines)
    .map((one) => `> ${one}`);
}
