import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import { createElection, type ElectionDeps, NotLeading, type Term } from '../../../src/kube/lease.ts';
import { fakeServer } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const timing = { leaseDuration: 6_000, renewDeadline: 4_000, retryPeriod: 1_000 };
const name = 'tapfix-watcher';
const namespace = 'tapfix';

/** A server with the Lease of the manifests, and replicas that compete for it. */
function aCluster() {
  const clock = fakeClock();
  const server = fakeServer(clock);
  server.seed('Lease', namespace, { metadata: { name } });
  const logged: string[] = [];
  const note = (_about: object, words: string): void => void logged.push(words);
  const log = { debug() {}, info: note, warn: note, error: note };

  function replica(identity: string, over: Partial<ElectionDeps> = {}) {
    const stop = new AbortController();
    const terms: Term[] = [];
    let isCutOff = false;
    const whole = server.client();
    const reached = <T>(answer: () => Promise<T>): Promise<T> =>
      isCutOff ? Promise.reject(new Unreachable('connect ECONNREFUSED')) : answer();
    const api: ElectionDeps['api'] = {
      get: (ref) => reached(() => whole.get(ref)),
      create: (ref, body) => reached(() => whole.create(ref, body)),
      patch: (ref, type, body) => reached(() => whole.patch(ref, type, body)),
    };
    const election = createElection({
      api,
      clock,
      steadyMs: clock.now,
      log,
      namespace,
      name,
      identity,
      timing,
      ...over,
    });
    const ended = election.run(async (term) => {
      terms.push(term);
      if (!term.signal.aborted) await new Promise((resolve) => term.signal.addEventListener('abort', resolve));
    }, stop.signal);
    return {
      election,
      terms,
      ended,
      stop: () => stop.abort(),
      cutOff: (is: boolean) => void (isCutOff = is),
      leads: (): boolean => terms.some(({ signal }) => !signal.aborted),
    };
  }
  const holder = (): unknown =>
    (server.list('Lease')[0] as { spec?: { holderIdentity?: string } }).spec?.holderIdentity;
  return { clock, server, logged, replica, holder };
}

function forbid(): void {
  throw new ApiError('leases.coordination.k8s.io "tapfix-watcher" is forbidden', 403, 'Forbidden');
}

describe('a Lease', () => {
  test('one of two replicas leads, and both know who', async () => {
    const { clock, replica, holder } = aCluster();
    const [a, b] = [replica('a'), replica('b')];
    await clock.advance(30_000);
    assert.deepEqual([a.leads(), b.leads(), holder()], [true, false, 'a']);
    assert.deepEqual(b.election.view(), { holder: 'a', isLeading: false, problem: undefined });
    assert.equal(a.terms[0]!.isTakeover, false);
    a.terms[0]!.mustLead();
  });

  test('asked to stop, the leader ends its work, releases the Lease, and another leads within two seconds', async () => {
    const { clock, replica } = aCluster();
    const a = replica('a');
    await clock.advance(3_000);
    const b = replica('b');
    await clock.advance(5_000);
    a.stop();
    await clock.advance(2_000);
    await a.ended;
    assert(b.leads());
    assert.equal(b.terms[0]!.isTakeover, true);
  });

  test('killed, another leads within ten seconds, and not before the Lease has run out', async () => {
    const { clock, replica } = aCluster();
    const a = replica('a');
    await clock.advance(3_000);
    const b = replica('b');
    await clock.advance(5_000);
    a.cutOff(true);
    await clock.advance(4_500);
    assert(!b.leads(), 'it was renewed less than six seconds ago');
    await clock.advance(3_500);
    assert(b.leads());
  });

  test('a leader that cannot renew stops before another may begin', async () => {
    const { clock, replica } = aCluster();
    const [a, b] = [replica('a'), replica('b')];
    await clock.advance(5_000);
    a.cutOff(true);
    for (let n = 0; n < 300; n++) {
      await clock.advance(100);
      assert(!(a.leads() && b.leads()), 'two lead at once');
    }
    assert.throws(() => a.terms[0]!.mustLead(), NotLeading);
    assert(b.leads());
    a.cutOff(false);
    b.stop();
    await clock.advance(3_000);
    assert(a.leads(), 'a replica that lost the Lease competes again');
    assert.equal(a.terms[1]!.isTakeover, true);
    assert.throws(() => a.terms[0]!.mustLead(), NotLeading, 'what is left of its first term may not write');
  });

  test('a leader that was paused may not write, although its timers have not run yet', async () => {
    const { clock, server } = aCluster();
    let nowMs = clock.now();
    const paused = { now: () => nowMs, sleep: () => new Promise<void>(() => undefined) };
    let term: Term | undefined;
    const election = createElection({
      api: server.client(),
      clock: paused,
      steadyMs: paused.now,
      log: { debug() {}, info() {}, warn() {}, error() {} },
      namespace,
      name,
      identity: 'a',
      timing,
    });
    void election.run((one) => new Promise(() => void (term = one)), new AbortController().signal);
    await clock.advance(0);
    nowMs += 3_900;
    term!.mustLead();
    nowMs += 26_100;
    assert.throws(() => term!.mustLead(), NotLeading);
    assert(term!.signal.aborted);
    nowMs -= 30_000;
    assert.throws(() => term!.mustLead(), NotLeading, 'a term that is over stays over');
  });

  test('a clock that is set back does not make a Lease last longer', async () => {
    const { clock, replica } = aCluster();
    let setByMs = 0;
    const a = replica('a', { steadyMs: () => clock.now() - setByMs });
    await clock.advance(2_000);
    a.cutOff(true);
    setByMs = -60_000;
    clock.set(-60_000);
    await clock.advance(5_000);
    assert.throws(() => a.terms[0]!.mustLead(), NotLeading);
  });

  test('an answer that is lost: the Lease that was taken nevertheless is used', async () => {
    const { clock, server, replica } = aCluster();
    const whole = server.client();
    let isLost = true;
    const api: ElectionDeps['api'] = {
      get: whole.get,
      create: whole.create,
      async patch(ref, type, body) {
        const answer = await whole.patch(ref, type, body);
        if (isLost) throw new Unreachable('read ECONNRESET');
        return answer as never;
      },
    };
    const a = replica('a', { api });
    await clock.advance(500);
    isLost = false;
    await clock.advance(2_000);
    assert(a.leads());
  });

  test('after a kill, a start that finds a Lease which nobody renews is a start, not a takeover', async () => {
    const { clock, replica } = aCluster();
    const a = replica('a');
    await clock.advance(3_000);
    a.cutOff(true);
    const again = replica('a-again');
    await clock.advance(9_000);
    assert.equal(again.terms[0]?.isTakeover, false);
  });

  test('somebody else edits the Lease: the leader goes on', async () => {
    const { clock, server, replica } = aCluster();
    const a = replica('a');
    await clock.advance(3_000);
    await server.client().patch({ kind: 'Lease', namespace, name }, 'merge', { metadata: { labels: { team: 'sre' } } });
    await clock.advance(10_000);
    assert.deepEqual([a.leads(), a.terms.length], [true, 1]);
  });

  test('a Lease that may not be used is said once, and what to do', async () => {
    const { clock, server, logged, replica } = aCluster();
    const a = replica('a', { api: server.client({ authorize: forbid }) });
    await clock.advance(10_000);
    assert.equal(a.leads(), false);
    assert.match(a.election.view().problem ?? '', /Lease tapfix\/tapfix-watcher cannot be used/);
    assert.deepEqual(logged, ['cannot lead: apply the manifests again']);
  });

  test('without a Lease, whoever may create one does', async () => {
    const { clock, server, replica } = aCluster();
    await server.client().delete({ kind: 'Lease', namespace, name });
    const a = replica('a');
    await clock.advance(3_000);
    assert(a.leads());
  });
});
