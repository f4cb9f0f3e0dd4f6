import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTarget, spoken } from '../../../src/explain/findings.ts';

const understood: [string, string][] = [
  ['shop/Deployment/checkout', 'Deployment checkout in shop'],
  ['shop/deployment/checkout', 'Deployment checkout in shop'],
  ['shop/deployments/checkout', 'Deployment checkout in shop'],
  ['shop/deploy/checkout', 'Deployment checkout in shop'],
  ['shop/PVC/data-0', 'PersistentVolumeClaim data-0 in shop'],
  ['Node/worker-3.example.com', 'Node worker-3.example.com'],
  ['tapfix/Node/worker-3', 'Node worker-3'], // as its incident's key has it
];
for (const [text, want] of understood) test(text, () => assert.equal(spoken(parseTarget(text)), want));

const refused: [string, RegExp][] = [
  ['', /^"" is not NAMESPACE\/KIND\/NAME/],
  ['checkout', /is not NAMESPACE\/KIND\/NAME: write it like shop\/Deployment\/checkout$/],
  ['shop//checkout', /is not NAMESPACE\/KIND\/NAME/],
  ['a/b/c/d', /is not NAMESPACE\/KIND\/NAME/],
  ['deploy/checkout', /^in which namespace\? Write it like shop\/Deployment\/checkout$/],
  ['shop/Rollout/checkout', /^tapfix knows no kind "Rollout": there are Deployment, StatefulSet, /],
  ['shop/Nodee/x', /^tapfix knows no kind "Nodee": did you mean Node\?$/],
  ['shop/Secret/x', /^tapfix knows no kind "Secret": there are/],
  ['shop/Pod/../x', /is not NAMESPACE\/KIND\/NAME/],
  ['shop/Pod/x%2fy', /^"x%2fy" is no name that Kubernetes would take$/],
  ['Shop/Pod/x', /^"Shop" is no name that Kubernetes would take$/],
  [`shop/Pod/${'x'.repeat(254)}`, /is no name that Kubernetes would take$/],
];
for (const [text, why] of refused)
  test(`refused: ${text.slice(0, 30)}`, () =>
    assert.throws(() => parseTarget(text), { name: 'UserError', exitCode: 2, message: why }));
