import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, type KubeObject } from '../../../src/kube/api.ts';
import { readClusterIds } from '../../../src/kube/installation.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const account = {
  status: { userInfo: { username: 'system:serviceaccount:tapfix:tapfix-watcher', uid: 'account-uid' } },
};

function ids(get: () => Promise<unknown>, review: object = account): Promise<string[]> {
  const clock = fakeClock();
  const api = { get: get as never, create: (async () => review) as never };
  const found = readClusterIds({ api, clock, log, signal: new AbortController().signal });
  void clock.advance(20_000);
  return found;
}
const system = { metadata: { name: 'kube-system', uid: 'cluster-uid' } } as KubeObject;

test('a cluster is known by kube-system, and by our own account', async () =>
  assert.deepEqual(await ids(async () => system), ['cluster-uid', 'account-uid']));

test('with rights in single namespaces only, by our own account', async () =>
  assert.deepEqual(await ids(() => Promise.reject(new ApiError('no', 403, 'Forbidden'))), ['account-uid']));

test('an account without a uid is known by its name', async () =>
  assert.deepEqual(await ids(async () => undefined, { status: { userInfo: { username: 'ada' } } }), ['ada']));

test('a server that fails for a moment is asked again, so that the id stays the same', async () => {
  let asked = 0;
  const get = async (): Promise<unknown> => {
    asked += 1;
    if (asked < 3) throw new ApiError('overloaded', 503, 'ServiceUnavailable');
    return system;
  };
  assert.deepEqual([await ids(get), asked], [['cluster-uid', 'account-uid'], 3]);
});
