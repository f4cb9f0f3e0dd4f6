import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClassSeverity, severityNow } from '../../../src/health/impact.ts';
import { workloadHealth } from '../../../src/health/workload-health.ts';
import { gone } from '../../../src/health/workload-health.ts';
import type { Severity } from '../../../src/kube/remediation.ts';

const pods = (ready: number, desired: number) => workloadHealth({ ready, desired, settled: true }, [], 0);
const cause = (hasOneDown: boolean) => ({ ...gone, gone: false, ready: 3, desired: 6, hasOneDown });
const floor = (severity: Severity): ClassSeverity => ({ severity, isSeverityFixed: false });
const fixed = (severity: Severity): ClassSeverity => ({ severity, isSeverityFixed: true });

const rows: [string, Severity, ...Parameters<typeof severityNow>][] = [
  ['a warning with pods left', 'warning', floor('warning'), pods(2, 3)],
  ['a warning with no pod ready', 'critical', floor('warning'), pods(0, 3)],
  ['the only pod is not ready', 'critical', floor('info'), pods(0, 1)],
  ['critical by its class, with pods left', 'critical', floor('critical'), pods(2, 3)],
  [
    'it wants no pods: a Node, a failed Job, an autoscaler, one that was scaled to zero',
    'info',
    floor('info'),
    pods(0, 0),
  ],
  ['a shared cause, whose workloads all have some pods', 'warning', floor('warning'), cause(false)],
  ['a shared cause, one of whose workloads has none', 'critical', floor('warning'), cause(true)],
  [
    'it has a pod again: within the episode it is as severe as it was',
    'critical',
    floor('warning'),
    pods(1, 3),
    'critical',
  ],
  ['the operator says that it is a warning', 'warning', fixed('warning'), pods(0, 3)],
  ['the operator says so while it is open', 'warning', fixed('warning'), pods(0, 3), 'critical'],
  ['the operator says that it is critical', 'critical', fixed('critical'), pods(3, 3)],
];
for (const [name, want, ...facts] of rows)
  test(`severity, ${name}: ${want}`, () => assert.equal(severityNow(...facts), want));
