import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory } from '../../../src/health/history.ts';
import { createSetHistory } from '../../../src/health/set-history.ts';
import { setRevisionKey, viewSetRevision } from '../../../src/kube/views.ts';

const template = (image: string, annotations: Record<string, string> = {}) => ({
  metadata: { labels: { app: 'db' }, annotations },
  spec: { containers: [{ name: 'app', image }] },
});
const [one, two] = [template('shop/db:1'), template('shop/db:2')];

/** At this time, the set as its watch brings it. */
interface Seen {
  at: number;
  kind?: 'StatefulSet' | 'DaemonSet';
  runs: object;
  generation?: number;
  status: object;
}
const whole = { observedGeneration: 1, availableReplicas: 3, currentRevision: 'a', updateRevision: 'a' };
const rolling = { observedGeneration: 1, availableReplicas: 3, currentRevision: 'a', updateRevision: 'b' };
const daemons = { observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 };

const rows: { name: string; seen: Seen[]; want: Record<string, number> }[] = [
  { name: 'it runs', seen: [{ at: 0, runs: one, status: whole }], want: { one: 100 } },
  {
    name: 'another revision is being rolled out: the first one was whole until then, the new one never was',
    seen: [{ at: 0, runs: one, status: whole }, { at: 40, runs: two, status: rolling }],
    want: { one: 40, two: 0 },
  },
  {
    name: 'the spec is newer than the status: the counts are those of the revision before',
    seen: [{ at: 0, runs: one, status: whole }, { at: 40, runs: two, generation: 2, status: whole }],
    want: { one: 40, two: 0 },
  },
  {
    name: 'the rollout is done',
    seen: [{ at: 0, runs: one, status: whole }, { at: 40, runs: two, status: rolling }, { at: 60, runs: two, status: whole }],
    want: { one: 40, two: 40 },
  },
  {
    name: 'one pod is missing',
    seen: [{ at: 0, runs: one, status: whole }, { at: 30, runs: one, status: { ...whole, availableReplicas: 2 } }],
    want: { one: 30 },
  },
  { name: 'a DaemonSet runs', seen: [{ at: 0, kind: 'DaemonSet', runs: one, status: daemons }], want: { one: 100 } },
  {
    name: 'a DaemonSet whose pods are of two revisions',
    seen: [{ at: 0, kind: 'DaemonSet', runs: one, status: daemons }, { at: 10, kind: 'DaemonSet', runs: two, status: { ...daemons, updatedNumberScheduled: 1 } }],
    want: { one: 10, two: 0 },
  },
]; // prettier-ignore
for (const { name, seen, want } of rows)
  test(`what was seen of the revisions of a set: ${name}`, () => {
    const history = createHistory();
    const sets = createSetHistory(history);
    for (const { at, kind = 'StatefulSet', runs, generation = 1, status } of seen) {
      const metadata = { name: 'db', namespace: 'shop', uid: 'u-1', generation };
      const object = { metadata, spec: { replicas: 3, template: runs }, status };
      sets.observe(viewSetRevision(kind)(object as never)!, at * 1_000);
    }
    const known = (runs: object): number => history.longestAvailableMs(setRevisionKey('u-1', runs), 100_000) / 1_000;
    assert.deepEqual({ one: known(one), ...(want['two'] !== undefined && { two: known(two) }) }, want);
    sets.forget('u-1');
  });

test('a revision has one name, whoever looks at its template, and a short one', () => {
  const kept = { ...structuredClone(one), $patch: 'replace' };
  assert.equal(setRevisionKey('u-1', kept), setRevisionKey('u-1', one));
  assert.notEqual(setRevisionKey('u-1', two), setRevisionKey('u-1', one));
  assert.notEqual(setRevisionKey('u-2', one), setRevisionKey('u-1', one));
  assert.match(setRevisionKey('00000000-0000-4000-8000-000000000001', one), /^[\w-]{1,64}$/);
});
