import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../src/kube/api.ts';
import { createApi } from '../../src/kube/client.ts';
import { loadKubeConfig } from '../../src/kube/kubeconfig.ts';
import { createWatch } from '../../src/kube/watch.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { joinCluster } from '../cluster/cluster.ts';

/** Apart from watch.test.ts, whose API server does not live that long. */
test('Events, of which the server sends no bookmarks: two quiet minutes are not called an outage', async () => {
  const cluster = await joinCluster();
  const quiet = await cluster.freshNamespace('e2e-quiet');
  await cluster.kubectl(['-n', quiet, 'create', 'serviceaccount', 'reader']);
  await cluster.kubectl([
    '-n',
    quiet,
    'create',
    'rolebinding',
    'reader',
    '--clusterrole=view',
    `--serviceaccount=${quiet}:reader`,
  ]);
  const file = await cluster.serviceAccountKubeconfig(quiet, 'reader');
  const own = createApi({ kubeConfig: loadKubeConfig({ env: { KUBECONFIG: file, HOME: cluster.dir } }) });
  const heard: string[] = [];
  const ending = new AbortController();
  const watch = createWatch<KubeObject>({
    api: own,
    clock: systemClock,
    log: createLog({ write: (line) => void heard.push(line) }),
    kind: 'Event',
    namespace: quiet,
    fieldSelector: 'type=Warning',
    view: (object) => object,
    onList: () => {},
    onChange: () => {},
  });
  const running = watch.run(ending.signal);
  await cluster.waitFor('the first list', async () => watch.synced(), 20_000);
  await sleep(120_000);
  assert.ok(watch.silentMs() < 75_000, `${watch.silentMs()} ms of silence`);
  ending.abort();
  await running;
  await own.close();
  assert.deepEqual(heard, []);
});
