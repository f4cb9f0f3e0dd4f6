import type { Finding, Pulse, Sample } from './verdict.ts';

export interface SoakResult {
  minutes: number;
  startedAt: string;
  seed: number;
  samples: readonly Sample[];
  pulses: readonly Pulse[];
  /** When which fault was at work. */
  spells: readonly { what: string; fromMs: number; forMs: number }[];
  warmUpMs: number;
  findings: readonly Finding[];
  wrong: readonly string[];
  counts: Readonly<Record<string, number>>;
}

interface Line {
  name: string;
  /** Which of the two colours. */
  tone: 'one' | 'two' | 'three';
  points: readonly { x: number; y: number }[];
}

const width = 720;
const height = 220;
const edge = { left: 52, right: 12, top: 12, bottom: 26 };

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** A round number that is at least this. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

const shown = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toPrecision(3).replace(/\.?0+$/, '');

/** One plot as inline SVG: lines over minutes, the faults in grey behind them, the end of the warm-up as a dashed line. */
export function plot(
  title: string,
  unit: string,
  lines: readonly Line[],
  { minutes, spells, warmUpMs }: Pick<SoakResult, 'minutes' | 'spells' | 'warmUpMs'>,
): string {
  const most = roundUp(Math.max(0, ...lines.flatMap(({ points }) => points.map(({ y }) => y))));
  const x = (ms: number): string =>
    (edge.left + (ms / (minutes * 60_000)) * (width - edge.left - edge.right)).toFixed(1);
  const y = (value: number): string =>
    (height - edge.bottom - (value / most) * (height - edge.top - edge.bottom)).toFixed(1);
  const rows = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const value = most * share;
    return `<line class="grid" x1="${edge.left}" x2="${width - edge.right}" y1="${y(value)}" y2="${y(value)}"/><text x="${edge.left - 6}" y="${Number(y(value)) + 4}" text-anchor="end">${shown(value)}</text>`;
  });
  const columns = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = minutes * share;
    const anchor = share === 0 ? 'start' : share === 1 ? 'end' : 'middle';
    return `<text x="${x(at * 60_000)}" y="${height - 8}" text-anchor="${anchor}">${shown(at)} min</text>`;
  });
  const bands = spells.map(({ what, fromMs, forMs }) => {
    const until = Math.min(fromMs + forMs, minutes * 60_000);
    const wide = Math.max(1, Number(x(until)) - Number(x(fromMs))).toFixed(1);
    return `<rect class="spell" x="${x(fromMs)}" y="${edge.top}" width="${wide}" height="${height - edge.top - edge.bottom}"><title>${escaped(what)}</title></rect>`;
  });
  const curves = lines.map(
    ({ tone, points }) =>
      `<polyline class="${tone}" points="${points.map((point) => `${x(point.x)},${y(point.y)}`).join(' ')}"/>`,
  );
  const legend = lines.map(({ name, tone }) => `<span class="key ${tone}">${escaped(name)}</span>`).join(' ');
  return `<figure><figcaption><b>${escaped(title)}</b> <small>${escaped(unit)}</small> ${legend}</figcaption>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">${bands.join('')}${rows.join('')}${columns.join('')}<line class="warm" x1="${x(warmUpMs)}" x2="${x(warmUpMs)}" y1="${edge.top}" y2="${height - edge.bottom}"/>${curves.join('')}</svg></figure>`;
}

const style = `:root{color-scheme:light dark;--ink:#1c1e21;--paper:#fff;--faint:#e4e6ea;--spell:#d9480f22;--one:#1864ab;--two:#c2410c;--three:#2b8a3e;--bad:#c92a2a}
@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--paper:#14171a;--faint:#2c3238;--spell:#ff922b2e;--one:#74c0fc;--two:#ffa94d;--three:#8ce99a;--bad:#ff8787}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:760px;margin:0 auto;padding:16px}
h1{font-size:1.4rem}figure{margin:24px 0}svg{width:100%;height:auto;display:block}svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
.grid{stroke:var(--faint)}.warm{stroke:var(--ink);stroke-dasharray:4 4;opacity:.5}.spell{fill:var(--spell)}
polyline{fill:none;stroke-width:2;stroke-linejoin:round}polyline.one{stroke:var(--one)}polyline.two{stroke:var(--two)}polyline.three{stroke:var(--three)}
.key::before{content:"";display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 .6em;border-radius:2px}.key.one::before{background:var(--one)}.key.two::before{background:var(--two)}.key.three::before{background:var(--three)}
.bad{color:var(--bad);font-weight:600}table{border-collapse:collapse}td{padding:2px 12px 2px 0;border-bottom:1px solid var(--faint)}td:last-child{text-align:right}`;

/** The whole report: one page that needs nothing else. */
export function pageOf(result: SoakResult): string {
  const { minutes, samples, pulses, findings, wrong, counts, startedAt, seed } = result;
  const roles = [...new Set(samples.map(({ role }) => role))];
  const tones = ['one', 'two', 'three'] as const;
  const ofRoles = (value: (sample: Sample) => number): Line[] =>
    roles.map((role, n) => ({
      name: role,
      tone: tones[n % tones.length]!,
      points: samples.filter((sample) => sample.role === role).map((sample) => ({ x: sample.atMs, y: value(sample) })),
    }));
  const ofPulses = (name: string, tone: Line['tone'], value: (pulse: Pulse) => number): Line => ({
    name,
    tone,
    points: pulses.map((pulse) => ({ x: pulse.atMs, y: value(pulse) })),
  });
  const isGood = findings.every(({ ok }) => ok);
  const list = findings.map(({ ok, text }) => `<li${ok ? '' : ' class="bad"'}>${ok ? '✓' : '✗'} ${escaped(text)}</li>`);
  const table = Object.entries(counts).map(([what, times]) => `<tr><td>${escaped(what)}</td><td>${times}</td></tr>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>tapfix soak</title><style>${style}</style></head><body>
<h1>${isGood ? '✓ passed' : '<span class="bad">✗ failed</span>'}: a soak of ${shown(minutes)} minutes</h1>
<p>${escaped(startedAt)}, seed ${seed}. Coloured bands: a fault was at work. Dashed: the warm-up ended.</p>
<ul>${list.join('')}</ul>
${plot(
  'Memory',
  'RSS, MB',
  ofRoles(({ rssMb }) => rssMb),
  result,
)}
${plot(
  'Handles',
  'open files and sockets',
  ofRoles(({ handles }) => handles),
  result,
)}
${plot(
  'Event-loop delay',
  'p99 between samples, ms',
  ofRoles(({ delayMs }) => delayMs),
  result,
)}
${plot('API requests', 'per minute, all processes', [ofPulses('requests', 'one', ({ requestsPerMinute }) => requestsPerMinute)], result)}
${plot('The books', 'incidents so far', [ofPulses('broken', 'two', ({ incidents }) => incidents), ofPulses('closed, and balanced', 'three', ({ closed }) => closed)], result)}
${wrong.length > 0 ? `<h2 class="bad">What does not balance</h2><ul>${wrong.map((line) => `<li>${escaped(line)}</li>`).join('')}</ul>` : ''}
<h2>Counts</h2><table>${table.join('')}</table>
</body></html>
`;
}
