import assert from 'node:assert/strict';
import { defaultsIn } from '../../../src/health/pod-charge.ts';
import { roomFor } from '../../../src/health/quota-room.ts';
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

const asking = (requests: string | undefined, limits: string | undefined, more: object = {}) =>
  container({
    resources: {
      ...(requests && { requests: { memory: requests } }),
      ...(limits && { limits: { memory: limits } }),
    },
    ...more,
  });
const named = (name: string, requests?: string, limits?: string, more: object = {}) =>
  asking(requests, limits, { name, ...more });
const always = { restartPolicy: 'Always' };
/** Pods around a quota of 100Mi requests, 200Mi limits and one device. */
const charges: [string, object][] = [
  ['nothing stated', {}],
  ['only a request', { containers: [asking('64Mi', undefined)] }],
  ['only a limit that is too large a request', { containers: [asking(undefined, '101Mi')] }],
  ['only a limit', { containers: [asking(undefined, '100Mi')] }],
  ['a limit too large', { containers: [asking('1Mi', '201Mi')] }],
  ['two that fit together', { containers: [named('a', '50Mi', '100Mi'), named('b', '50Mi', '100Mi')] }],
  ['two that do not', { containers: [named('a', '51Mi', '100Mi'), named('b', '50Mi', '100Mi')] }],
  ['one of two is silent', { containers: [named('a', '1Mi', '1Mi'), named('b')] }],
  ['a large init container', { containers: [asking('1Mi', '1Mi')], initContainers: [named('i', '101Mi', '101Mi')] }],
  ['init containers one after another', { containers: [asking('1Mi', '1Mi')], initContainers: [named('i', '99Mi', '99Mi'), named('j', '99Mi', '99Mi')] }],
  ['a sidecar', { containers: [asking('60Mi', '60Mi')], initContainers: [named('s', '41Mi', '41Mi', always)] }],
  ['an init container after a sidecar', { containers: [asking('1Mi', '1Mi')], initContainers: [named('s', '41Mi', '41Mi', always), named('i', '60Mi', '60Mi')] }],
  ['an init container before a sidecar', { containers: [asking('1Mi', '1Mi')], initContainers: [named('i', '60Mi', '60Mi'), named('s', '41Mi', '41Mi', always)] }],
  ['two devices', { containers: [container({ resources: { limits: { memory: '1Mi', 'example.com/gpu': '2' } } })] }],
  ['one device', { containers: [container({ resources: { limits: { memory: '1Mi', 'example.com/gpu': '1' } } })] }],
]; // prettier-ignore

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
  'tapfix counts a pod as admission does': async (ground) => {
    const { api } = ground;
    const hard = { pods: '9', 'requests.memory': '100Mi', 'limits.memory': '200Mi', 'requests.example.com/gpu': '1' };
    const { namespace, ref } = await under(ground, hard);
    const isRefused = (spec: object): Promise<boolean> =>
      api.create({ kind: 'Pod', namespace }, aPod('asks', spec), { dryRun: true }).then(
        () => false,
        (error: Error) => /(?:exceeded|failed) quota: limits/.test(error.message), // not as an invalid pod
      );
    await eventually('admission to know the quota', () => isRefused({}));
    const quota = (await api.get<Thing>(ref))!;
    const compare = async (what: string, spec: object, ranges: Thing[] = []): Promise<void> => {
      const { spec: pod } = aPod('asks', spec) as { spec: Record<string, unknown> };
      const counted = roomFor(quota, { pod }, defaultsIn(ranges)).is;
      assert.equal(counted, (await isRefused(spec)) ? 'short' : 'enough', what);
    };
    for (const [what, spec] of charges) await compare(what, spec);
    const body = {
      metadata: { name: 'usual' },
      spec: { limits: [{ type: 'Container', default: { memory: '60Mi' } }] },
    };
    const range = await api.create<Thing>({ kind: 'LimitRange', namespace }, body);
    await eventually('admission to know the LimitRange', async () => !(await isRefused({})));
    for (const [what, spec] of charges) await compare(`${what}, with defaults`, spec, [range]);
  },
  'a quota of some pods only is about those': async (ground) => {
    const { create } = await under(ground, { pods: '0' }, { scopes: ['NotBestEffort'] });
    await create('free');
    assert.equal(await said(create('costs', cpu('100m'))), '403 Forbidden');
  },
};
