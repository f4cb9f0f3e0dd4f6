import assert from 'node:assert/strict';
import { quotaIn } from '../../../src/health/refusals.ts';
import { aPod, aWorkload, container } from '../builders.ts';
import { eventually, type Facts, type Ground, refusal, said, type Thing, word } from '../ground.ts';

type Amounts = Record<string, string>;

/** A namespace of its own with one quota, in force. */
async function under({ api, freshNamespace }: Ground, hard: Amounts, spec: object = {}) {
  const namespace = await freshNamespace();
  const made = await api.create<Thing>(
    { kind: 'ResourceQuota', namespace },
    { metadata: { name: 'limits' }, spec: { hard, ...spec } },
  );
  const ref = { kind: 'ResourceQuota' as const, namespace, name: 'limits' };
  const read = async (): Promise<{ hard?: Amounts; used?: Amounts }> =>
    ((await api.get<Thing>(ref))?.status ?? {}) as object;
  await eventually('the quota to be in force', async () => (await read()).hard !== undefined);
  const create = (name: string, resources?: object, options = {}) =>
    api.create<Thing>(
      { kind: 'Pod', namespace },
      aPod(name, { containers: [container(resources && { resources })] }),
      options,
    );
  const uses = (amounts: Amounts) =>
    eventually(`a use of ${JSON.stringify(amounts)}`, async () => {
      const { used = {} } = await read();
      return Object.entries(amounts).every(([name, amount]) => used[name] === amount);
    });
  return { namespace, made, ref, read, create, uses };
}

const cpu = (amount: string) => ({ requests: { cpu: amount } });

export const quotas: Facts = {
  'a new quota soon says what it limits and what is used': async (ground) => {
    const { made, read } = await under(ground, { pods: '2', 'requests.cpu': '0.5', 'limits.memory': '1Gi' });
    assert.deepEqual(made.status, {});
    assert.deepEqual(await read(), {
      hard: { pods: '2', 'requests.cpu': '500m', 'limits.memory': '1Gi' },
      used: { pods: '0', 'requests.cpu': '0', 'limits.memory': '0' },
    });
  },
  'a pod beyond it is 403 Forbidden, in the words that tapfix reads': async (ground) => {
    const { create } = await under(ground, { pods: '0' });
    const error = await refusal(create('web'));
    assert.equal(word(error), '403 Forbidden');
    assert.equal(
      error.message,
      'pods "web" is forbidden: exceeded quota: limits, requested: pods=1, used: pods=0, limited: pods=0',
    );
    assert.equal(quotaIn(error.message), 'limits');
  },
  'only what is exceeded is named': async (ground) => {
    const { create } = await under(ground, { pods: '5', 'requests.cpu': '1', 'limits.memory': '1Gi' });
    const error = await refusal(create('web', { requests: { cpu: '1500m' }, limits: { memory: '2Gi', cpu: '2' } }));
    assert.equal(
      error.message,
      'pods "web" is forbidden: exceeded quota: limits, requested: limits.memory=2Gi,requests.cpu=1500m, used: limits.memory=0,requests.cpu=0, limited: limits.memory=1Gi,requests.cpu=1',
    );
  },
  'what the quota limits has to be stated': async (ground) => {
    const { create } = await under(ground, { 'requests.cpu': '1', 'limits.memory': '1Gi' });
    const error = await refusal(create('web'));
    assert.equal(word(error), '403 Forbidden');
    assert.equal(
      error.message,
      'pods "web" is forbidden: failed quota: limits: must specify limits.memory for: app; requests.cpu for: app',
    );
  },
  'cpu and memory are short for requests': async (ground) => {
    const { create } = await under(ground, { cpu: '1', memory: '1Gi' });
    const error = await refusal(create('web', { requests: { cpu: '2', memory: '1.5Gi' } }));
    assert.equal(
      error.message,
      'pods "web" is forbidden: exceeded quota: limits, requested: cpu=2,memory=1536Mi, used: cpu=0,memory=0, limited: cpu=1,memory=1Gi',
    );
  },
  'what is used counts': async (ground) => {
    const { create, uses } = await under(ground, { pods: '5', 'requests.cpu': '1' });
    await create('a', cpu('300m'));
    await create('b', cpu('0.5'));
    await uses({ pods: '2', 'requests.cpu': '800m' });
    const error = await refusal(create('c', cpu('300m')));
    assert.equal(
      error.message,
      'pods "c" is forbidden: exceeded quota: limits, requested: requests.cpu=300m, used: requests.cpu=800m, limited: requests.cpu=1',
    );
  },
  'a pod that fits exactly is let in': async (ground) => {
    const { create } = await under(ground, { pods: '1', 'requests.cpu': '300m' });
    await create('a', cpu('300m'));
  },
  'a generated name is in the refusal': async ({ api, ...ground }) => {
    const { namespace } = await under({ api, ...ground }, { pods: '0' });
    const body = { ...aPod(''), metadata: { generateName: 'web-' } };
    assert.match(
      (await refusal(api.create({ kind: 'Pod', namespace }, body))).message,
      /^pods "web-[a-z0-9]{5}" is forbidden: exceeded quota: limits,/,
    );
  },
  'a dry run is refused as well, and uses nothing': async (ground) => {
    const { create, read } = await under(ground, { pods: '1' });
    await create('a', undefined, { dryRun: true });
    assert.equal((await read()).used?.['pods'], '0');
    await create('a');
    assert.equal(await said(create('b', undefined, { dryRun: true })), '403 Forbidden');
  },
  'a deleted pod gives its share back': async (ground) => {
    const { create, uses, namespace } = await under(ground, { pods: '1' });
    await create('a');
    await uses({ pods: '1' });
    await ground.api.delete({ kind: 'Pod', namespace, name: 'a' });
    await uses({ pods: '0' });
    await eventually('the pod', () => create('b').catch(() => undefined)); // admission hears of it a moment later
  },
  'pods that have ended do not count': async (ground) => {
    const { create, uses, namespace } = await under(ground, { pods: '1', 'requests.cpu': '1' });
    await create('a', cpu('1'));
    await ground.api.patch({ kind: 'Pod', namespace, name: 'a', subresource: 'status' }, 'merge', {
      status: { phase: 'Failed' },
    });
    await uses({ pods: '0', 'requests.cpu': '0' });
    await eventually('the pod', () => create('b', cpu('1')).catch(() => undefined));
  },
  'a raised limit lets in what was refused': async (ground) => {
    const { create, ref } = await under(ground, { pods: '0' });
    assert.equal(await said(create('a')), '403 Forbidden');
    await ground.api.patch(ref, 'merge', { spec: { hard: { pods: '1' } } });
    await eventually('the pod', () => create('a').catch(() => undefined));
  },
  'a deleted quota lets in what was refused': async (ground) => {
    const { create, ref } = await under(ground, { pods: '0' });
    assert.equal(await said(create('a')), '403 Forbidden');
    await ground.api.delete(ref);
    await eventually('the pod', () => create('a').catch(() => undefined));
  },
  'count/KIND limits how many there are': async (ground) => {
    const { namespace, ref } = await under(ground, { 'count/deployments.apps': '0' });
    const create = (name: string, options = {}) =>
      ground.api.create({ kind: 'Deployment', namespace }, aWorkload('Deployment', name), options);
    const isRefused = (name: string): Promise<boolean> =>
      create(name, { dryRun: true }).then(
        () => false,
        () => true,
      );
    // Admission hears of a quota a moment later than its status says, and never counts what it let in before.
    await eventually('admission to know the quota', () => isRefused('a'));
    await ground.api.patch(ref, 'merge', { spec: { hard: { 'count/deployments.apps': '1' } } });
    await eventually('room for one', async () => !(await isRefused('a')));
    await create('a');
    await eventually('a refusal', () => isRefused('b'));
    const error = await refusal(create('b'));
    assert.equal(
      error.message,
      'deployments.apps "b" is forbidden: exceeded quota: limits, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1',
    );
  },
  'a quota of what it does not know is 422 Invalid': async ({ api, ns }) => {
    const quota = (hard: Amounts) =>
      api.create({ kind: 'ResourceQuota', namespace: ns }, { metadata: { name: 'odd' }, spec: { hard } });
    assert.equal(await said(quota({ pods: '-1' })), '422 Invalid');
    assert.equal(await said(quota({ frogs: '1' })), '422 Invalid');
  },
  'a quota of some pods only is about those': async (ground) => {
    const { create } = await under(ground, { pods: '0' }, { scopes: ['NotBestEffort'] });
    await create('free');
    assert.equal(await said(create('costs', cpu('100m'))), '403 Forbidden');
  },
};
