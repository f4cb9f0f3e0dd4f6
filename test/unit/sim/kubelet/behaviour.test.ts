import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotatedBehaviour, type Behaviour, parseBehaviour } from '../../../../src/sim/kubelet/behaviour.ts';
import { aPod } from '../objects.ts';

const words: [string, Behaviour][] = Object.entries({
  run: { do: 'run' },
  'ready-after=5s': { do: 'run', readyAfterMs: 5000 },
  unready: { do: 'unready' },
  crash: { do: 'exit', code: 1, afterMs: 300 },
  'crash-after=60s': { do: 'exit', code: 1, afterMs: 60_000 },
  oom: { do: 'exit', code: 137, afterMs: 300, reason: 'OOMKilled' },
  'oom=2m': { do: 'exit', code: 137, afterMs: 120_000, reason: 'OOMKilled' },
  'exit-0': { do: 'exit', code: 0, afterMs: 1000 },
  'exit-1=3s': { do: 'exit', code: 1, afterMs: 3000 },
  liveness: { do: 'liveness', afterMs: 3000 },
  'image-missing': { do: 'image-missing' },
  'config-missing=shop-config': { do: 'config-missing', what: 'configmap "shop-config" not found' },
  'config-missing=secret/token': { do: 'config-missing', what: 'secret "token" not found' },
  sandbox: { do: 'sandbox' },
  'volume=token': { do: 'volume', secret: 'token' },
  evicted: { do: 'evicted', afterMs: 30_000 },
  hang: { do: 'hang' },
  'crash-after=soon': { do: 'unknown', text: 'crash-after=soon' },
  ['constructor']: { do: 'unknown', text: 'constructor' },
  krash: { do: 'unknown', text: 'krash' },
} as Record<string, Behaviour>);

for (const [text, want] of words) test(text, () => assert.deepEqual(parseBehaviour(text), want));

test('it is of the first container unless it names another', () => {
  const [app, proxy, migrate] = ['app', 'proxy', 'migrate'].map((name) => ({ name }));
  const pod = aPod('p', {
    annotations: { 'sim.tapfix.dev/behave': 'crash, proxy:unready,migrate:exit-0' },
    spec: { containers: [app!, proxy!], initContainers: [migrate!] },
  });
  const behaves = [app, proxy, migrate].map((container) => annotatedBehaviour(pod, container!)?.do);
  assert.deepEqual(behaves, ['exit', 'unready', 'exit']);
  const silent = aPod('p', { spec: { containers: [app!] } });
  assert.equal(annotatedBehaviour(silent, app!), undefined);
});
