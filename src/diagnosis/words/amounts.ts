import { arr, obj, type Raw } from '../../kube/raw.ts';
import { quantity } from '../../lib/quantity.ts';

const requestsOf = (container: Raw): [string, string][] =>
  Object.entries(obj(obj(container['resources'])['requests'])).map(([name, amount]) => [name, String(amount)]);

const isSidecar = (container: Raw): boolean => container['restartPolicy'] === 'Always';

/**
 * Pure. What a pod asks of a node, by resource: its containers together, or the largest of what runs before them. Where
 * one container alone asks, in the words in which it does.
 */
export function asksOf(spec: Raw): Map<string, string> {
  const init = arr(spec['initContainers']);
  const together = sumOf([...arr(spec['containers']), ...init.filter(isSidecar)]);
  for (const container of init.filter((one) => !isSidecar(one)))
    for (const [name, amount] of requestsOf(container))
      if ((quantity(amount) ?? 0) > (quantity(together.get(name) ?? '0') ?? 0)) together.set(name, amount);
  const whole = obj(obj(spec['resources'])['requests']); // of the pod as a whole, where somebody says that
  return new Map([...together, ...Object.entries(whole).map(([name, amount]) => [name, String(amount)] as const)]);
}

function sumOf(containers: readonly Raw[]): Map<string, string> {
  const amounts = Map.groupBy(containers.flatMap(requestsOf), ([name]) => name);
  return new Map(
    [...amounts].map(([name, asked]) => [
      name,
      totalOf(
        name,
        asked.map(([, amount]) => amount),
      ),
    ]),
  );
}

function totalOf(resource: string, amounts: readonly string[]): string {
  const [only, ...others] = amounts.filter((amount) => quantity(amount) !== 0);
  if (only === undefined || others.length === 0) return only ?? '0';
  return amountInWords(
    resource,
    amounts.reduce((sum, amount) => sum + (quantity(amount) ?? 0), 0),
  );
}

const bytes: ReadonlySet<string> = new Set(['memory', 'ephemeral-storage', 'storage']);

/** 1.5, 1536Mi, 2Gi: as a person would write it. */
export function amountInWords(resource: string, amount: number): string {
  if (!bytes.has(resource)) return String(Number(amount.toFixed(3)));
  const [Mi, Gi] = [2 ** 20, 2 ** 30];
  if (amount >= Gi && amount % Gi === 0) return `${amount / Gi}Gi`;
  return amount >= Mi ? `${Number((amount / Mi).toFixed(1))}Mi` : `${Math.round(amount)}`;
}
