import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultsIn, noDefaults } from '../../../src/health/pod-charge.ts';
import { type Demand, type Room, roomFor } from '../../../src/health/quota-room.ts';

const counts = (hard: object, used: object, spec: object = {}) => ({ spec: { hard, ...spec }, status: { hard, used } });
const asking = (requests: object, more: object = {}): Demand => ({
  pod: { ...more, containers: [{ name: 'app', resources: { requests } }] } as never,
});
const inWords = (room: Room): string => {
  if (room.is !== 'short') return room.is;
  return room.shortfalls.map(({ resource, asked }) => `${resource} ${asked ?? 'not stated'}`).join(', ');
};

const memory = (hard: string, used: string) => counts({ 'requests.memory': hard }, { 'requests.memory': used });
const rows: [string, object, Demand, string][] = [
  ['the quota of the forged Event', memory('100Gi', '10Mi'), asking({ memory: '10Mi' }), 'enough'],
  ['as full as can be', memory('100Mi', '100Mi'), asking({ memory: '1Mi' }), 'requests.memory 1Mi'],
  ['to the last byte', memory('100Mi', '36Mi'), asking({ memory: '64Mi' }), 'enough'],
  ['one byte too much', memory('100Mi', '36Mi'), asking({ memory: '67108865' }), 'requests.memory 67108865'],
  ['to the last crumb of cpu', counts({ cpu: '300m' }, { cpu: '200m' }), asking({ cpu: '100m' }), 'enough'],
  ['more is used than there may be', memory('1Mi', '9Mi'), asking({ memory: '1Mi' }), 'requests.memory 1Mi'],
  ['nothing is asked of a quota that is overdrawn', memory('1Mi', '9Mi'), asking({ memory: '0' }), 'enough'],
  ['a number of pods', counts({ pods: '2' }, { pods: '2' }), asking({}), 'pods 1'],
  ['all pods, also those that have ended', counts({ 'count/pods': '2' }, { 'count/pods': '2' }), asking({}), 'count/pods 1'],
  ['another kind of object', counts({ services: '0' }, { services: '0' }), asking({}), 'enough'],
  ['two limits at once', counts({ pods: '1', cpu: '1' }, { pods: '1', cpu: '1' }), asking({ cpu: '1' }), 'pods 1, cpu 1'],
  ['memory that is not stated', memory('1Gi', '0'), asking({ cpu: '1' }), 'requests.memory not stated'],
  ['ephemeral storage that is not stated', counts({ 'requests.ephemeral-storage': '1' }, { 'requests.ephemeral-storage': '1' }), asking({}), 'enough'],
  ['not counted yet', { spec: { hard: { pods: '0' } } }, asking({}), 'enough'],
  ['counted in part', counts({ pods: '5' }, {}), asking({}), 'unknown'],
  ['limits in words that nobody understands', counts({ pods: 'many' }, { pods: '1' }), asking({}), 'unknown'],
  ['the status counts, not the spec', { spec: { hard: { pods: '0' } }, status: { hard: { pods: '9' }, used: { pods: '1' } } }, asking({}), 'enough'],
]; // prettier-ignore
for (const [name, quota, demand, want] of rows)
  test(`room in a quota: ${name}: ${want}`, () => assert.equal(inWords(roomFor(quota, demand, noDefaults)), want));

const full = (spec: object) => counts({ pods: '0' }, { pods: '0' }, spec);
const scoped = (...scopes: string[]) => full({ scopes });
const priority = (operator: string, ...values: string[]) =>
  full({
    scopeSelector: {
      matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values.length > 0 && { values }) }],
    },
  });
const urgent = asking({}, { priorityClassName: 'urgent' });
const near = (term: object) => ({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } });
const far = (term: object) => ({
  podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] },
});
const scopes: [string, object, Demand, boolean][] = [
  ['BestEffort, nothing stated', scoped('BestEffort'), asking({}), true],
  ['BestEffort, a request', scoped('BestEffort'), asking({ cpu: '1' }), false],
  ['NotBestEffort, a request', scoped('NotBestEffort'), asking({ cpu: '1' }), true],
  ['NotBestEffort, nothing stated', scoped('NotBestEffort'), asking({}), false],
  ['Terminating, with a deadline', scoped('Terminating'), asking({}, { activeDeadlineSeconds: 0 }), true],
  ['Terminating, without', scoped('Terminating'), asking({}), false],
  ['NotTerminating, without', scoped('NotTerminating'), asking({}), true],
  ['both must be so', scoped('NotTerminating', 'BestEffort'), asking({ cpu: '1' }), false],
  ['a class that is listed', priority('In', 'urgent'), urgent, true],
  ['another class', priority('In', 'other'), urgent, false],
  ['a class that is not listed', priority('NotIn', 'other'), urgent, true],
  ['a class that is listed as out', priority('NotIn', 'urgent'), urgent, false],
  ['any class', priority('Exists'), urgent, true],
  ['no class', priority('DoesNotExist'), urgent, false],
  ['no class stated: the cluster may have a default one', priority('DoesNotExist'), asking({}), false],
  ['affinity to other namespaces', scoped('CrossNamespacePodAffinity'), asking({}, { affinity: near({ namespaces: ['b'] }) }), true],
  ['anti-affinity to any namespace', scoped('CrossNamespacePodAffinity'), asking({}, { affinity: far({ namespaceSelector: {} }) }), true],
  ['affinity within its own', scoped('CrossNamespacePodAffinity'), asking({}, { affinity: near({ namespaces: [] }) }), false],
  ['a scope of tomorrow', scoped('Tomorrow'), asking({}), false],
  ['claims and Jobs are in no scope', full({ hard: {}, scopes: ['NotTerminating'] }), { claims: [{}], counted: 'pods' }, false],
]; // prettier-ignore
for (const [name, quota, demand, counted] of scopes)
  test(`a quota with scopes: ${name}: ${counted ? 'counted' : 'not counted'}`, () =>
    assert.equal(roomFor(quota, demand, noDefaults).is, counted ? 'short' : 'enough'));

const claim = (storage: string, more: object = {}, annotations = {}) => ({
  metadata: { name: 'data', annotations },
  spec: { resources: { requests: { storage } }, ...more },
});
const gold = 'gold.storageclass.storage.k8s.io/requests.storage';
const legacy = { 'volume.beta.kubernetes.io/storage-class': 'gold' };
const others: [string, Record<string, string>, Demand, string][] = [
  ['a claim', { persistentvolumeclaims: '0' }, { claims: [claim('1Gi')] }, 'persistentvolumeclaims 1'],
  ['claims, counted', { 'count/persistentvolumeclaims': '1' }, { claims: [claim('1'), claim('1')] }, 'count/persistentvolumeclaims 2'],
  ['storage of several claims', { 'requests.storage': '3Gi' }, { claims: [claim('2Gi'), claim('2Gi')] }, 'requests.storage 4Gi'],
  ['storage of a class', { [gold]: '1Gi' }, { claims: [claim('2Gi', { storageClassName: 'gold' })] }, `${gold} 2Gi`],
  ['storage of a class by its old annotation', { [gold]: '1Gi' }, { claims: [claim('2Gi', {}, legacy)] }, `${gold} 2Gi`],
  ['storage of no class, or the default one', { [gold]: '1Gi' }, { claims: [claim('2Gi')] }, 'enough'],
  ['no claim that is missing', { persistentvolumeclaims: '0' }, { ...asking({}), claims: [] }, 'enough'],
  ['a Job', { 'count/jobs.batch': '0' }, { counted: 'count/jobs.batch' }, 'count/jobs.batch 1'],
]; // prettier-ignore
for (const [name, hard, demand, want] of others)
  test(`room in a quota for what is no pod: ${name}`, () => {
    const used = Object.fromEntries(Object.keys(hard).map((resource) => [resource, '0']));
    assert.equal(inWords(roomFor(counts(hard, used), demand, noDefaults)), want);
  });

const unread: [string, object, Demand, string][] = [
  ['the template states it', memory('1Gi', '0'), asking({ memory: '2Gi' }), 'requests.memory 2Gi'],
  ['the template states it, and it fits', memory('1Gi', '0'), asking({ memory: '1Mi' }), 'enough'],
  ['the template is silent', memory('1Gi', '1Gi'), asking({ cpu: '1' }), 'unknown'],
  ['only pods are counted', counts({ pods: '0' }, { pods: '0' }), asking({}), 'pods 1'],
  ['its quality depends on it', scoped('BestEffort'), asking({}), 'unknown'],
  ['its quality does not depend on it', scoped('NotBestEffort'), asking({ cpu: '1' }), 'pods 1'],
];
for (const [name, quota, demand, want] of unread)
  test(`LimitRanges that could not be read: ${name}: ${want}`, () =>
    assert.equal(inWords(roomFor(quota, demand, undefined)), want));

test('a LimitRange makes a silent pod one that is not best effort', () => {
  const range = { metadata: {}, spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '1' } }] } } as never;
  assert.equal(roomFor(scoped('BestEffort'), asking({}), defaultsIn([range])).is, 'enough');
});
