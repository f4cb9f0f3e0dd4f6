import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LiveHealth } from '../../../src/health/trouble.ts';
import { workloadHealth } from '../../../src/health/workload-health.ts';
import { fold } from '../../../src/incidents/incident.ts';
import { sightingsDue, sightingsOf, writeCleared, writeSightings } from '../../../src/incidents/sightings.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { aFix, aNotice, aQuotaFix, type FixOptions } from '../../support/fixes.ts';
import { aStreet } from '../../support/street.ts';

const healthy = workloadHealth({ desired: 3, ready: 3, settled: true }, [], 0);
const key = aFix().spec.incident.key;

const signal = (failureClass: string) => ({
  class: failureClass,
  namespace: 'shop',
  object: { kind: 'Pod', name: 'p', uid: 'p' },
  reason: 'R',
  message: failureClass,
});
const object = { kind: 'Deployment', name: 'checkout', uid: 'd' };
const seen = (failureClass: string, specificity: number, atMs: number, forMs = 30_000) =>
  ({
    key,
    namespace: 'shop',
    object,
    signal: signal(failureClass),
    row: { severity: 'critical', readable: true, specificity, forMs },
    nowMs: atMs,
  }) as const;
const first = fold(undefined, seen('CrashLoop', 50, 0));

/* Sightings. */

test('how many are ready is one text as well, because a column of kubectl cannot join two fields', () => {
  const readiness = (desired: number, ready: number): string | undefined =>
    sightingsOf(aFix(), first, workloadHealth({ desired, ready, settled: true }, [], 0), own).readiness;
  assert.deepEqual([readiness(3, 2), readiness(3, 0), readiness(0, 0)], ['2/3', '0/3', '']);
});

const told = aQuotaFix();
const sightings = { count: 1, lastSeen: '2026-11-16T03:12:00Z' };
test('sightings never count backwards and forget nobody', () => {
  const incident = { ...first, count: 2 };
  const live = { ...healthy, affected: ['Deployment/new', 'Deployment/api'] };
  const { count, affected } = sightingsOf(told, incident, live, own);
  assert.equal(count, 4);
  assert.deepEqual(affected, [...told.status!.sightings!.affected!, 'Deployment/new']);
  const many = Array.from({ length: 60 }, (_, n) => `Deployment/${n}`);
  assert.equal(sightingsOf(told, incident, { ...healthy, affected: many }, own).affected?.length, 50);
});

const down = workloadHealth({ desired: 3, ready: 0, settled: true }, [], 0);
const nowMs = Date.parse('2026-11-16T03:20:00Z');
const now = '2026-11-16T03:20:00.000Z';
const warning = aNotice();
const critical = aNotice({ incident: { severity: 'critical' } });
const since = (severitySince: string): FixOptions => ({
  status: { sightings: { ...sightings, severity: 'critical', severitySince } },
});
const own = { own: { severity: 'warning' }, nowMs } as const;
const severities: [string, Remediation, LiveHealth, Partial<Parameters<typeof sightingsOf>[3]>, unknown[]][] = [
  ['as it was recorded', warning, healthy, {}, ['warning', undefined]],
  ['it has no pod left', warning, down, {}, ['critical', now]],
  ['recorded as critical, it has not risen', critical, down, {}, ['critical', undefined]],
  ['it has pods again', aNotice(since('2026-11-16T03:00:00Z')), healthy, {}, ['critical', '2026-11-16T03:00:00Z']],
  ['its pods are being replaced by a fix', aNotice({ phase: 'Applied' }), down, {}, ['warning', undefined]],
  ['its pods are new, and only starting', warning, down, { isNew: true }, ['warning', undefined]],
  ['it was chosen', warning, down, { own: { severity: 'warning', isSeverityFixed: true } }, ['warning', undefined]],
  [
    'the first of a successor, of an episode that has risen',
    aNotice({ incident: { severity: 'critical' }, status: { sightings: undefined } as object }),
    down,
    { predecessor: aNotice(since('2026-11-16T03:00:00Z')) },
    ['critical', '2026-11-16T03:00:00Z'],
  ],
  [
    'the first of a successor that is more severe',
    aNotice({ incident: { severity: 'critical' }, status: { sightings: undefined } as object }),
    down,
    { predecessor: warning },
    ['critical', now],
  ],
];
for (const [name, fix, live, over, want] of severities)
  test(`the severity in force, and since when: ${name}`, () => {
    const { severity, severitySince } = sightingsOf(fix, first, live, { ...own, ...over });
    assert.deepEqual([severity, severitySince], want);
  });

test('a rise is written at once, though sightings were written a moment ago', () => {
  const next = sightingsOf(warning, undefined, down, own);
  assert.equal(sightingsDue(warning, next, nowMs, nowMs - 1), true);
  assert.equal(sightingsDue(warning, { ...next, severity: 'warning' }, nowMs, nowMs - 1), false);
});

test('sightings and the end are written about this Remediation, not another of its name', async () => {
  const { server } = aStreet();
  const seed = () =>
    server.seed('Remediation', 'shop', { metadata: { name: 'x' }, spec: told.spec }) as unknown as Remediation;
  const before = seed();
  server.remove('Remediation', 'shop', 'x');
  assert.equal(await writeSightings(server.client(), before, sightings), undefined, 'it is gone');
  seed();
  assert.equal(await writeSightings(server.client(), before, sightings), undefined, 'another is there');
  assert.equal(await writeCleared(server.client(), before, { gone: false }, 0), undefined);
  assert.equal(server.get('Remediation', 'shop', 'x')?.['status'], undefined);
});

test('what the controller writes at the same time is neither lost nor in the way', async () => {
  const { server } = aStreet();
  const seen = server.seed('Remediation', 'shop', {
    metadata: { name: 'x' },
    spec: told.spec,
  }) as unknown as Remediation;
  const phases = ['Proposed', 'Approved', 'Applying', 'Applied'];
  const before = (): void => {
    const phase = phases.shift();
    if (phase) server.change('Remediation', 'shop', 'x', { status: { phase } });
  };
  const written = await writeSightings(server.client({ before }), seen, sightings);
  assert.deepEqual(written?.status, { phase: 'Applied', sightings });
});

test('a server that always has something newer is asked five times, and then later', async () => {
  const { server } = aStreet();
  const seen = server.seed('Remediation', 'shop', {
    metadata: { name: 'x' },
    spec: told.spec,
  }) as unknown as Remediation;
  const phases = ['Proposed', 'Approved', 'Applying', 'Applied', 'Recovered'];
  let patches = 0;
  const before = ({ verb }: { verb: string }): void => {
    if (verb === 'patch') server.change('Remediation', 'shop', 'x', { status: { phase: phases[patches++] } });
  };
  await assert.rejects(writeSightings(server.client({ before }), seen, sightings), /modified/);
  assert.equal(patches, 5);
});
