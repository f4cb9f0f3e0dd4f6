import { line } from '../../lib/plain.ts';

/** Pure. Why a kubelet put a pod away, in a few words. */
export function evictionInWords(message: string): string {
  const [, resource] = /The node was low on resource: ([\w-]+)/.exec(message) ?? [];
  const [, threshold, available] = /Threshold quantity: (\S+), available: (\S+?)\.?(?:\s|$)/.exec(message) ?? [];
  if (resource)
    return `the node was low on ${resource}${available ? ` (${available} left, it keeps ${threshold} free)` : ''}`;
  const [, condition] = /The node had condition: \[([^\]]+)\]/.exec(message) ?? [];
  if (condition) return `the node had ${condition}`;
  const [, container, limit] =
    /Container (\S+) exceeded its local ephemeral storage limit "([^"]+)"/.exec(message) ?? [];
  if (container) return `container ${container} wrote more than its limit of ${limit} to local disk`;
  const [, volume, size] = /Usage of EmptyDir volume "([^"]+)" exceeds the limit "([^"]+)"/.exec(message) ?? [];
  if (volume) return `its emptyDir volume ${volume} grew over its limit of ${size}`;
  const [, total] =
    /ephemeral local storage usage exceeds the total limit of containers (\S+?)\.?(?:\s|$)/.exec(message) ?? [];
  if (total) return `it wrote more than its limit of ${total} to local disk`;
  return line(message, 240);
}
