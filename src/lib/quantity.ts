const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/**
 * "500m", "128Mi", "1e3" as a number; undefined when it is not a quantity.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
export function quantity(text: string): number | undefined {
  const [, amount, suffix = ''] = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(text) ?? [];
  const factor = factors[suffix];
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor;
}

const inBytes = /(?:memory|storage|hugepages-\w+)$/;
/** From large to small. */
const units = (suffixes: readonly string[]) => suffixes.map((suffix) => [suffix, factors[suffix]!] as const);
const decimal = units(['E', 'P', 'T', 'G', 'M', 'k', '']);
const binary = units(['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki']);

/** 1536Mi, 500m, 2: an amount of a resource as the API server would write it. */
export function quantityInWords(resource: string, amount: number): string {
  if (!Number.isInteger(amount)) return `${Math.ceil(Number((amount * 1000).toFixed(3)))}m`;
  if (!inBytes.test(resource) || amount === 0) return String(amount);
  const [suffix, unit] = [...binary, ...decimal].find(([, size]) => amount % size === 0)!;
  return `${amount / unit}${suffix}`;
}
