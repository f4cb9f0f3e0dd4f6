import type { World } from './world.ts';

export const deployment = (name: string, over: { image?: string; replicas?: number } = {}): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: over.replicas ?? 2,
    selector: { matchLabels: { app: name } },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%', maxSurge: 0 } },
    template: templateOf(name, over),
  },
});

const templateOf = (name: string, { image = 'shop/app:1' }: { image?: string }): object => ({
  metadata: { labels: { app: name } },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'app', image, resources: { requests: { memory: '16Mi' } } }],
  },
});

interface Counted {
  spec: { replicas: number };
  status?: { availableReplicas?: number };
}

export async function available(world: World, name: string): Promise<boolean> {
  const found = (await world.api.get({ kind: 'Deployment', namespace: 'shop', name })) as unknown as Counted;
  return (found.status?.availableReplicas ?? 0) === found.spec.replicas;
}

/** Runs long enough that tapfix has seen it healthy. */
export async function isRunning(
  world: World,
  name: string,
  over: Parameters<typeof deployment>[1] = {},
): Promise<void> {
  await world.apply('Deployment', deployment(name, over));
  await world.until(`${name} to be available`, () => available(world, name));
  await world.advance(60_000);
}

/** A new version; the word behind the dash of its tag says how its pods do: "shop/app:2-crash". */
export async function rollOut(world: World, name: string, image: string): Promise<void> {
  const patch = [{ op: 'replace', path: '/spec/template', value: templateOf(name, { image }) }];
  await world.api.patch({ kind: 'Deployment', namespace: 'shop', name }, 'json', patch);
}

export async function tightQuota(world: World, name = 'tight'): Promise<void> {
  await world.apply('ResourceQuota', {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name },
    spec: { hard: { 'requests.memory': '8Mi' } },
  });
}

export async function losePods(world: World, app: string): Promise<void> {
  for (const { metadata } of await world.api.list('Pod', 'shop', { labelSelector: `app=${app}` }))
    await world.api.delete({ kind: 'Pod', namespace: 'shop', name: metadata.name });
}

/** tapfix runs, `checkout` was healthy, its new version crashes, and the card with both buttons is on the phone. */
export async function untilAsked(world: World): Promise<void> {
  world.start();
  await isRunning(world, 'checkout');
  await rollOut(world, 'checkout', 'shop/app:2-crash');
  await world.until('both buttons', () => world.phone.has(/Roll back/) && world.phone.has(/Reject/));
}
