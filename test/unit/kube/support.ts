import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type ApiOptions, type ClosableApi, createApi } from '../../../src/kube/client.ts';
import { type ScriptedServer, scriptedServer } from '../../support/scripted-server.ts';

export interface Rig {
  server: ScriptedServer;
  api: ClosableApi;
}

/** A scripted server and a client of it, both closed when the test ends. */
export async function rig(t: TestContext, options: Partial<ApiOptions> = {}): Promise<Rig> {
  const server = await scriptedServer();
  const api = createApi({ kubeConfig: server.kubeConfig, ...options });
  t.after(() => Promise.all([api.close(), server.close()]));
  return { server, api };
}

/** Sockets are real even where time is not: looks again until it is true. */
export async function eventually(isTrue: () => boolean, meanwhile?: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!isTrue()) {
    assert.ok(Date.now() < deadline, `not within 15 s: ${isTrue.toString()}`);
    await meanwhile?.();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

export const aPod = (name: string, resourceVersion = '1'): object => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion, creationTimestamp: '2026-11-16T03:12:00Z' },
});

export const aList = (items: readonly object[], resourceVersion = '10', more?: string): object => ({
  kind: 'PodList',
  apiVersion: 'v1',
  metadata: { resourceVersion, ...(more && { continue: more }) },
  items,
});
