/** An exact amount in billionths, and how it was written, because a sum is written like its first part. */
export interface Quantity {
  nano: bigint;
  isBinary: boolean;
}

const one = 10n ** 9n;
const decimal: readonly (readonly [string, bigint])[] = [
  ['E', 10n ** 27n],
  ['P', 10n ** 24n],
  ['T', 10n ** 21n],
  ['G', 10n ** 18n],
  ['M', 10n ** 15n],
  ['k', 10n ** 12n],
  ['', one],
  ['m', 10n ** 6n],
  ['u', 10n ** 3n],
  ['n', 1n],
];
const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((suffix, i) => [suffix, one * 1024n ** BigInt(i + 1)] as const);
const units: ReadonlyMap<string, bigint> = new Map([...decimal, ...binary]);

export const zero: Quantity = { nano: 0n, isBinary: false };

/** Parses "500m", "1.5Gi", "1e3" or 2; undefined for anything else. https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
export function parseQuantity(value: unknown): Quantity | undefined {
  const [, sign, whole = '', part = '', exponent, suffix = ''] =
    /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+)|([A-Za-z]*))$/.exec(String(value)) ?? [];
  const unit = units.get(suffix);
  if (sign === undefined || whole + part === '' || unit === undefined || Math.abs(Number(exponent ?? 0)) > 30)
    return undefined;
  const scale = BigInt(part.length) - BigInt(exponent ?? 0);
  const digits = BigInt(whole + part) * unit;
  // A part finer than a billionth is rounded up, away from zero.
  const nano = scale > 0n ? (digits + 10n ** scale - 1n) / 10n ** scale : digits * 10n ** -scale;
  return { nano: sign === '-' ? -nano : nano, isBinary: suffix.endsWith('i') };
}

/** Writes a quantity as the API server does: 1.5Gi is 1536Mi, 0.5 is 500m. */
export function formatQuantity({ nano, isBinary }: Quantity): string {
  if (nano === 0n) return '0';
  const isLarge = nano % one === 0n && (nano >= 1024n * one || nano <= -1024n * one);
  const suffixes = isBinary && isLarge ? [...binary.toReversed(), ['', one] as const] : decimal;
  const [suffix, unit] = suffixes.find(([, unit]) => nano % unit === 0n)!;
  return `${nano / unit}${suffix}`;
}

export const addQuantities = (a: Quantity, b: Quantity): Quantity => ({
  nano: a.nano + b.nano,
  isBinary: a.nano === 0n ? b.isBinary : a.isBinary,
});

export const largerQuantity = (a: Quantity, b: Quantity): Quantity => (b.nano > a.nano ? b : a);

/** Rewrites a quantity as the API server does; any other value stays as it is. */
export function canonicalQuantity(value: unknown): unknown {
  const parsed = parseQuantity(value);
  return parsed ? formatQuantity(parsed) : value;
}
