import assert from 'node:assert/strict';
import type { Kind } from '../../../src/kube/resources.ts';
import { aPod, aRevision, anEvent } from '../builders.ts';
import { type Facts, type Ground, named, rawWord, refusal, said } from '../ground.ts';

/** Five, labelled by number; all with a label of their own so that nothing else is in the list. */
async function five({ api, ns }: Ground) {
  const mine = named('set');
  for (let n = 0; n < 5; n++) {
    const labels = { mine, n: String(n), ...(n % 2 === 1 && { odd: 'yes' }) };
    await api.create({ kind: 'ControllerRevision', namespace: ns }, aRevision(`${mine}-${n}`, { labels }));
  }
  const short = (name: string): string => name.slice(mine.length + 1);
  const select = async (selector: string): Promise<string> => {
    const labelSelector = `mine=${mine}${selector && `,${selector}`}`;
    const found = await api.list('ControllerRevision', ns, { labelSelector });
    return found.map(({ metadata }) => short(metadata.name)).join('');
  };
  const page = async (query: Record<string, string>) => {
    const { items, metadata } = await api.page('ControllerRevision', ns, { labelSelector: `mine=${mine}`, ...query });
    return { names: items.map((item) => short(item.metadata.name)).join(''), ...metadata };
  };
  return { mine, select, page };
}

const selects = (selector: string, expected: string): Facts => ({
  [`the label selector "${selector}" finds ${expected || 'none'} of 0 to 4, of which 1 and 3 are odd`]: async (
    ground,
  ) => {
    assert.equal(await (await five(ground)).select(selector), expected);
  },
});

const refusesLabels = (selector: string): Facts => ({
  [`the label selector "${selector}" is 400 BadRequest`]: async ({ api, ns }) => {
    assert.equal(await said(api.list('ControllerRevision', ns, { labelSelector: selector })), '400 BadRequest');
  },
});

const refusesField = (kind: Kind, field: string): Facts => ({
  [`${kind}s cannot be selected by ${field}: 400 BadRequest`]: async ({ api, ns }) => {
    assert.equal(await said(api.list(kind, ns, { fieldSelector: `${field}=x` })), '400 BadRequest');
  },
});

export const lists: Facts = {
  'a list is in the order of names': async (ground) => {
    assert.equal(await (await five(ground)).select(''), '01234');
  },
  'a list has the resourceVersion of its moment: a watch from there misses nothing': async (ground) => {
    const { page } = await five(ground);
    const before = await ground.api.create({ kind: 'ControllerRevision', namespace: ground.ns }, aRevision(named()));
    const { resourceVersion } = await page({});
    assert.ok(Number(resourceVersion) >= Number(before.metadata.resourceVersion));
  },
  'an item of a list is the whole object': async ({ api, ns }) => {
    const made = await api.create({ kind: 'ControllerRevision', namespace: ns }, aRevision(named()));
    const found = await api.list('ControllerRevision', ns, { fieldSelector: `metadata.name=${made.metadata.name}` });
    assert.deepEqual(found, [made]);
  },
  'a namespace that is not there has empty lists': async ({ api }) => {
    assert.deepEqual(await api.list('ControllerRevision', 'no-such-namespace'), []);
  },
  'without a namespace the list is of the whole cluster': async (ground) => {
    const { mine } = await five(ground);
    assert.equal((await ground.api.list('ControllerRevision', undefined, { labelSelector: `mine=${mine}` })).length, 5);
  },
  'a limit makes pages, and continue leads through all of them': async (ground) => {
    const { page } = await five(ground);
    const first = await page({ limit: '2' });
    assert.equal(first.names, '01');
    const second = await page({ limit: '2', continue: first.continue! });
    assert.equal(second.names, '23');
    const third = await page({ limit: '2', continue: second.continue! });
    assert.equal(third.names, '4');
    assert.equal(third.continue || undefined, undefined);
  },
  'pages are of one moment: what is written meanwhile is not in them': async (ground) => {
    const { mine, page } = await five(ground);
    const first = await page({ limit: '2' });
    const ref = { kind: 'ControllerRevision' as const, namespace: ground.ns };
    await ground.api.create(ref, aRevision(`${mine}-2b`, { labels: { mine } }));
    await ground.api.delete({ ...ref, name: `${mine}-3` });
    const second = await page({ limit: '5', continue: first.continue! });
    assert.equal(second.names, '234');
    assert.equal(second.resourceVersion, first.resourceVersion);
  },
  'without a selector a page says how many are left': async ({ api, freshNamespace }) => {
    const own = await freshNamespace();
    for (const name of ['a', 'b', 'c'])
      await api.create({ kind: 'ControllerRevision', namespace: own }, aRevision(name));
    const { metadata } = await api.page('ControllerRevision', own, { limit: '1' });
    assert.equal(metadata.remainingItemCount, 2);
  },
  'continue together with a resourceVersion is 400 BadRequest': async (ground) => {
    const { page } = await five(ground);
    const { continue: more } = await page({ limit: '2' });
    assert.equal(await said(page({ continue: more!, resourceVersion: '5' })), '400 BadRequest');
  },
  'a continue that nobody gave out is 400 BadRequest': async ({ api, ns }) => {
    assert.equal(await said(api.page('ControllerRevision', ns, { continue: 'garbage' })), '400 BadRequest');
  },
  'a limit that is no number is 400 BadRequest': async ({ api, ns }) => {
    assert.equal(await said(api.page('ControllerRevision', ns, { limit: 'many' })), '400 BadRequest');
  },
  'a resourceVersion that is no number is 400 BadRequest': async ({ api, ns }) => {
    assert.equal(await said(api.page('ControllerRevision', ns, { resourceVersion: 'new' })), '400 BadRequest');
  },
  'a resourceVersion of 0, or of the past, lists what is there now': async (ground) => {
    const { page } = await five(ground);
    const { resourceVersion } = await page({});
    assert.equal((await page({ resourceVersion: '0' })).names.length, 5);
    assert.equal((await page({ resourceVersion })).names, '01234');
  },
  'a resourceVersion asked for exactly lists what was there then': async (ground) => {
    const { mine, page } = await five(ground);
    const { resourceVersion } = await page({});
    await ground.api.delete({ kind: 'ControllerRevision', namespace: ground.ns, name: `${mine}-0` });
    assert.equal((await page({ resourceVersion, resourceVersionMatch: 'Exact' })).names, '01234');
  },
  'a resourceVersion of the future is said to be too large': async ({ api, ns }) => {
    const error = await refusal(api.page('ControllerRevision', ns, { resourceVersion: '999999999' }));
    assert.equal(error.code, 504);
    assert.match(error.message, /Too large resource version/);
  },
  ...selects('n=1', '1'),
  ...selects('n==1', '1'),
  ...selects('n!=1', '0234'),
  ...selects('odd', '13'),
  ...selects('!odd', '024'),
  ...selects('n in (1,2)', '12'),
  ...selects('n notin (1,2)', '034'),
  ...selects('odd notin (yes)', '024'),
  ...selects('odd!=no', '01234'),
  ...selects('n=1,odd=yes', '1'),
  ...selects('n=2,odd=yes', ''),
  ...selects('n>2', '34'),
  ...selects('n<2', '01'),
  ...selects(' n = 1 ', '1'),
  ...selects('n=', ''),
  ...refusesLabels('a b=c'),
  ...refusesLabels('a in (b'),
  ...refusesLabels(','),
  ...refusesLabels('a=b,'),
  ...refusesLabels('@=1'),
  'every kind can be selected by name and namespace': async ({ api, ns }) => {
    const name = named();
    await api.create({ kind: 'ControllerRevision', namespace: ns }, aRevision(name));
    const found = async (fieldSelector: string) =>
      (await api.list('ControllerRevision', undefined, { fieldSelector })).length;
    assert.equal(await found(`metadata.name=${name}`), 1);
    assert.equal(await found(`metadata.name=${name},metadata.namespace=${ns}`), 1);
    assert.equal(await found(`metadata.name=${name},metadata.namespace!=${ns}`), 0);
  },
  'Events can be selected by type, by reason and by what they are about': async ({ api, ns }) => {
    const name = named();
    await api.create({ kind: 'Event', namespace: ns }, anEvent(ns, name, { type: 'Warning', reason: name }));
    const found = async (fieldSelector: string) => (await api.list('Event', ns, { fieldSelector })).length;
    assert.equal(await found(`type=Warning,reason=${name}`), 1);
    assert.equal(await found(`type=Normal,reason=${name}`), 0);
    assert.equal(await found(`reason=${name},involvedObject.kind=Pod,involvedObject.name=p,involvedObject.uid=u`), 1);
    assert.equal(await found(`reason=${name},involvedObject.name=q`), 0);
  },
  'Pods can be selected by node and by phase': async ({ api, ns }) => {
    const name = named();
    await api.create({ kind: 'Pod', namespace: ns }, aPod(name));
    const found = async (fieldSelector: string) =>
      (await api.list('Pod', ns, { fieldSelector, labelSelector: `app=${name}` })).length;
    assert.equal(await found('status.phase=Pending'), 1);
    assert.equal(await found('status.phase!=Pending'), 0);
    assert.equal(await found('spec.nodeName='), 1);
    assert.equal(await found('spec.nodeName=real-1'), 0);
  },
  ...refusesField('Event', 'message'),
  ...refusesField('Pod', 'spec.replicas'),
  ...refusesField('Deployment', 'spec.replicas'),
  ...refusesField('ControllerRevision', 'metadata.uid'),
  ...refusesField('Remediation', 'status.phase'),
  'a field selector that is no equation is 400 BadRequest': async ({ api, ns }) => {
    assert.equal(await said(api.list('Pod', ns, { fieldSelector: 'metadata.name' })), '400 BadRequest');
  },
  'a list says its kind': async ({ raw, ns }) => {
    const answer = await raw('GET', `/api/v1/namespaces/${ns}/pods`);
    assert.deepEqual([rawWord(answer), answer.body.kind, answer.body.apiVersion], ['200', 'PodList', 'v1']);
  },
};
