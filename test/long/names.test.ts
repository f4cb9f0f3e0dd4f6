import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { incidentKey, numberOf, partsOf, remediationName } from '../../src/incidents/key.ts';
import { ownerByName } from '../../src/kube/owners.ts';

const numRuns = 3_000;
const nowMs = Date.parse('2026-11-16T03:12:00Z');
const lower = 'abcdefghijklmnopqrstuvwxyz0123456789';
const alphanums = 'bcdfghjklmnpqrstvwxz2456789';
const from = (alphabet: string, minLength: number, maxLength = minLength) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength });

/** A DNS-1123 label: what a namespace and most workloads are called. */
const label = fc
  .tuple(from(lower, 1), from(`${lower}-`, 0, 50), from(lower, 0, 1))
  .map((parts) => parts.join('').replace(/-+$/, ''));
/** Names that people give, which end like something generated but are not. */
const word = fc.constantFrom('worker', 'server', 'api', 'web', 'checkout', 'sync', 'cron', 'grpc', 'db', 'v2', 'x');
const spoken = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join('-'));
const subdomain = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.').slice(0, 253));
const name = fc.oneof(label, spoken, subdomain);
const kind = fc.constantFrom(
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'Job',
  'CronJob',
  'Pod',
  'ResourceQuota',
  'Rollout',
);

/** As the Deployment controller does it: a 32 bit hash in decimal, each digit put into letters (SafeEncodeString). */
const templateHash = fc
  .integer({ min: 100_000, max: 0xffffffff })
  .map((hash) => [...String(hash)].map((digit) => alphanums[digit.charCodeAt(0) % alphanums.length]).join(''));
const podSuffix = from(alphanums, 5);

test('two incidents have one key only if they are the same, and a key gives back its parts', () =>
  fc.assert(
    fc.property(label, kind, name, label, kind, name, (ns1, kind1, name1, ns2, kind2, name2) => {
      const [one, two] = [
        incidentKey(ns1, { kind: kind1, name: name1 }),
        incidentKey(ns2, { kind: kind2, name: name2 }),
      ];
      assert.equal(one === two, ns1 === ns2 && kind1 === kind2 && name1 === name2);
      assert.deepEqual(partsOf(one), { namespace: ns1, kind: kind1, name: name1 });
    }),
    { numRuns },
  ));

test('a Remediation has a name that Kubernetes takes, with its number in it, whatever the workload is called', () =>
  fc.assert(
    fc.property(
      label,
      kind,
      fc.oneof(name, fc.string({ minLength: 1 })),
      fc.integer({ min: 1, max: 9999 }),
      (namespace, kind, name, n) => {
        const made = remediationName(incidentKey(namespace, { kind, name }), n);
        assert.match(made, /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
        assert.equal(numberOf(made), n);
      },
    ),
    { numRuns },
  ));

test('names of 4,000 different incidents in one namespace do not collide', () => {
  const keys = new Set<string>();
  const shapes = fc.sample(fc.tuple(kind, name), { numRuns: 4_000, seed: 42 });
  for (const [kind, name] of shapes) keys.add(incidentKey('shop', { kind, name }));
  assert.ok(keys.size >= 2_000, `only ${keys.size} shapes`);
  assert.equal(new Set([...keys].map((key) => remediationName(key, 1))).size, keys.size);
});

test('a pod and a ReplicaSet named by Kubernetes lead to their Deployment', () =>
  fc.assert(
    fc.property(fc.oneof(label, spoken), templateHash, podSuffix, (name, hash, suffix) => {
      assert.deepEqual(ownerByName('ReplicaSet', `${name}-${hash}`, nowMs), { kind: 'Deployment', name });
      // A longer base is cut, and then the name alone tells nothing.
      if (name.length + hash.length + 2 <= 58)
        assert.deepEqual(ownerByName('Pod', `${name}-${hash}-${suffix}`, nowMs), { kind: 'Deployment', name });
    }),
    { numRuns },
  ));

test('a name that Kubernetes did not make loses nothing: worker and server never become one', () =>
  fc.assert(
    fc.property(spoken, word, (base, last) => {
      for (const kind of ['Pod', 'ReplicaSet']) assert.equal(ownerByName(kind, `${base}-${last}`, nowMs), undefined);
    }),
    { numRuns },
  ));

test('nor does one that ends in consonants only, such as a template hash never does', () => {
  for (const name of ['web-grpcsvr', 'payments-crnjbs', 'shop-pgsqldb', 'app-xmlrpc-grpcs', 'api-mtlsprx'])
    for (const kind of ['Pod', 'ReplicaSet'])
      assert.equal(ownerByName(kind, name, nowMs), undefined, `${kind} ${name}`);
});

test('payments-worker and payments-server are two incidents, live or gone', () => {
  const owners = fc.tuple(templateHash, podSuffix);
  fc.assert(
    fc.property(owners, owners, ([hash1, suffix1], [hash2, suffix2]) => {
      const worker = ownerByName('Pod', `payments-worker-${hash1}-${suffix1}`, nowMs)!;
      const server = ownerByName('Pod', `payments-server-${hash2}-${suffix2}`, nowMs)!;
      assert.notEqual(incidentKey('shop', worker), incidentKey('shop', server));
      assert.notEqual(remediationName(incidentKey('shop', worker), 1), remediationName(incidentKey('shop', server), 1));
    }),
    { numRuns },
  );
});
