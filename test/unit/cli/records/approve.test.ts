import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runApprove } from '../../../../src/cli/records/approve.ts';
import { ApiError, type KubeObject } from '../../../../src/kube/api.ts';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import { aFix, at, type FixOptions } from '../../../support/fixes.ts';
import { aSession } from '../../../support/session.ts';

const clock = { now: () => Date.parse(at('02:14:00')), sleep: async () => undefined };

interface Options {
  fix?: FixOptions;
  answer?: string;
  /** What becomes of the record while the person reads. */
  meanwhile?(fix: Remediation): void;
  /** What becomes of it each time somebody is about to write. */
  onPatch?(fix: Remediation, tried: number): void;
  /** undefined: the server does not say. */
  user?: (() => string | undefined) | undefined;
}

/** One record, and a person at a terminal. */
function aPerson({ fix: options = {}, answer, meanwhile, onPatch, user = () => 'ada' }: Options = {}) {
  const fix = aFix(options);
  const written: object[] = [];
  const asked: string[] = [];
  let tried = 0;
  const api = {
    get: async ({ kind }: { kind: string }) => (kind === 'Remediation' ? structuredClone(fix) : undefined),
    list: async () => [structuredClone(fix)],
    create: async () => {
      const username = user();
      if (username === undefined) throw new ApiError('no', 403, 'Forbidden');
      return { status: { userInfo: { username } } } as unknown as KubeObject;
    },
    async patch(_ref: object, _type: string, body: { metadata: { resourceVersion: string } }) {
      onPatch?.(fix, ++tried);
      if (body.metadata.resourceVersion !== fix.metadata.resourceVersion)
        throw new ApiError('changed', 409, 'Conflict');
      written.push(body);
      return fix;
    },
  };
  const ask = async (question: string): Promise<string> => {
    asked.push(question);
    meanwhile?.(fix);
    return answer ?? '';
  };
  const terminal = answer === undefined ? {} : { ask };
  const { session, out, err } = aSession({ api: api as never, clock, terminal });
  return { approve: (yes = false) => runApprove({ name: 'checkout', yes }, session), written, asked, out, err };
}

const seenAgain = (fix: Remediation): void => {
  fix.metadata.resourceVersion += '1';
  fix.status!.sightings!.count += 1;
};

test('asks with what is shown, and records a yes with the version that was read', async () => {
  const { approve, asked, written, out } = aPerson({ answer: 'y' });
  assert.equal(await approve(), 0);
  assert.deepEqual(asked, ['\nRoll back to 1.41? [y/N] ']);
  assert.match(out[0]!, /checkout is down, 0\/3 ready[\s\S]*1\.42 → shop\/checkout:1\.41/);
  assert.deepEqual(written, [
    {
      metadata: { resourceVersion: '1' },
      spec: { approval: { state: 'Approved', by: 'ada', at: '2026-11-16T02:14:00.000Z', via: 'cli' } },
    },
  ]);
});

for (const answer of ['', 'n', 'maybe', 'yess'])
  test(`the answer ${JSON.stringify(answer)} is a no`, async () => {
    const { approve, written, out } = aPerson({ answer });
    assert.equal(await approve(), 1);
    assert.deepEqual([written, out.at(-1)], [[], 'Nothing was done.']);
  });

test('a record that is only seen again while the person reads, and while it is written, is approved', async () => {
  const { approve, written } = aPerson({
    answer: 'yes',
    meanwhile: seenAgain,
    onPatch: (fix, tried) => tried < 3 && seenAgain(fix),
  });
  assert.equal(await approve(), 0);
  assert.equal(written.length, 1);
});

test('a change of what would be done, while the person reads, is not approved', async () => {
  const meanwhile = (fix: Remediation): void =>
    void (fix.status!.preview = { ...fix.status!.preview!, targetHash: 'other' });
  const { approve, written } = aPerson({ answer: 'y', meanwhile });
  await assert.rejects(approve(), {
    message: /^shop\/checkout-3f9a1c-1 has changed since this was shown; nothing was done\./,
  });
  assert.deepEqual(written, []);
});

test('somebody else decides while the person reads: who it was', async () => {
  const meanwhile = (fix: Remediation): void =>
    void (fix.spec.approval = { state: 'Rejected', by: 'grace', at: at('02:13:55') });
  const { approve, written } = aPerson({ answer: 'y', meanwhile });
  await assert.rejects(approve(), { message: 'shop/checkout-3f9a1c-1: grace rejected this 5 s ago.' });
  assert.deepEqual(written, []);
});

test('the name is used again for another record while the person reads', async () => {
  const { approve, written } = aPerson({ answer: 'y', meanwhile: (fix) => void (fix.metadata.uid = 'another') });
  await assert.rejects(approve(), { message: 'shop/checkout-3f9a1c-1 is no longer there; nothing was done' });
  assert.deepEqual(written, []);
});

test('where the server does not say who somebody is, the cluster fills it in', async () => {
  const { approve, written } = aPerson({ user: () => undefined });
  assert.equal(await approve(true), 0);
  const approval = { state: 'Approved', at: '2026-11-16T02:14:00.000Z', via: 'cli' };
  assert.deepEqual(written, [{ metadata: { resourceVersion: '1' }, spec: { approval } }]);
});

test('a fix that another person proposed needs no confirmation by the controller, as in the controller itself', async () => {
  const { conditions, ...status } = aFix().status!;
  const rehearsed = conditions!.filter(({ type }) => type !== 'Confirmed');
  const own = aPerson({ fix: { unrehearsed: true, conditions: rehearsed.slice(1), status } });
  await assert.rejects(own.approve(true), { message: /still checking it/ });
  const persons = aPerson({
    fix: { unrehearsed: true, conditions: rehearsed.slice(1), status, spec: { proposedBy: 'grace' } },
  });
  assert.equal(await persons.approve(true), 0);
});

test('what was only noticed has nothing to approve', async () => {
  const { approve } = aPerson({ fix: { phase: 'Noticed', spec: { action: undefined } as never } });
  await assert.rejects(approve(true), { message: /no fix was proposed for this, so there is nothing to decide$/ });
});

test('a service account is not offered a role that people hold', async () => {
  const onPatch = (): never => {
    throw new ApiError('people do', 403, 'Forbidden');
  };
  const { approve } = aPerson({ user: () => 'system:serviceaccount:ci:robot', onPatch });
  await assert.rejects(approve(true), {
    message: 'service account system:serviceaccount:ci:robot may not decide in namespace shop: people do',
  });
});
