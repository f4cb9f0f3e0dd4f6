import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Prepared } from '../../../src/actions/action.ts';
import { createConfirms } from '../../../src/approvals/confirms.ts';
import { authorise, createApprovals } from '../../../src/approvals/press.ts';
import { verbs } from '../../../src/approvals/verbs.ts';
import { type Api, ApiError } from '../../../src/kube/api.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { encodePress, shownHash } from '../../../src/notices/payload.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aConfig, aFix, aNotice, aNoticeOf, aQuotaFix, at, uidOf } from '../../support/fixes.ts';

/* Rules of deciding that only show at their edges. */

const nowMs = Date.parse(at('02:14:14'));
const by = 'telegram:123456789';
const place = { chat: '-100500' };
const withoutPreview = aFix();
delete withoutPreview.status!.preview;

const refusals: [string, Remediation, string][] = [
  ['rehearsed, but nothing to show for it', withoutPreview, 'NotRehearsed'],
  ['it failed before anybody decided', aFix({ phase: 'Failed' }), 'AlreadyOver'],
  ['it is being applied, whatever the approval says', aFix({ phase: 'Applying' }), 'AlreadyOver'],
  ['there is no action, whatever the phase says', aNotice({ phase: 'Proposed' }), 'AlreadyOver'],
];
for (const [name, fix, reason] of refusals)
  test(`refused: ${name}`, () => {
    const press = { channel: 'telegram', by, name: 'x', place, message: '4711', data: '' } as const;
    const payload = { verb: 'a', uid: fix.metadata.uid, shown: shownHash(fix) } as const;
    const facts = { press, payload, fix, notice: aNoticeOf([fix]), armed: undefined, config: aConfig() };
    const verdict = authorise({ ...facts, nowMs, timeZone: 'UTC' }, verbs.a.rules);
    assert.equal(!verdict.ok && verdict.reason, reason);
  });

/** What the server does to a press; everything else goes well. */
interface Server {
  get?(live: Remediation): Promise<Remediation | undefined> | Remediation | undefined;
  patch?(tries: number): void;
  rbac?(): Promise<void>;
}

function aBooth(fix: Remediation, server: Server = {}) {
  const clock = fakeClock(nowMs);
  const confirms = createConfirms({ clock, signal: new AbortController().signal });
  const counted: string[] = [];
  let patches = 0;
  const api = {
    get: async () => (server.get ? server.get(structuredClone(fix)) : structuredClone(fix)),
    patch: async () => server.patch?.(++patches),
  } as unknown as Api;
  const { onPress } = createApprovals({
    api,
    clock,
    log: { debug() {}, warn() {}, error() {}, info() {} },
    current: () => aConfig(),
    fixByUid: () => fix,
    noticeAt: () => aNoticeOf([fix]),
    noticesWith: () => [],
    confirms,
    subjectAccess: async () => (await server.rbac?.(), true),
    prepare: async () => ({ ok: true, targetHash: fix.status?.preview?.targetHash }) as Prepared,
    onDecision: (channel, result) => void counted.push(`${channel} ${result}`),
    ownNamespace: 'tapfix',
    proposeAgain: async () => ({ ok: false, because: 'over' }),
    timeZone: 'UTC',
  });
  const press = (verb: 'a' | 'r' | 'c' | 'b', who = by) =>
    onPress({ channel: 'telegram', by: who, name: 'x', place, message: '4711', data: encodePress(verb, fix) });
  return { clock, confirms, counted, press, patched: () => patches };
}

test('a Remediation of the same name that came later is not the one on the card', async () => {
  const another = (live: Remediation) => ({ ...live, metadata: { ...live.metadata, uid: uidOf(77) } });
  const booth = aBooth(aFix(), { get: another });
  assert.match((await booth.press('a')).say, /is gone/);
  assert.equal(booth.patched(), 0);
});

test('deleted between reading and recording: it is judged again, and gone', async () => {
  let isThere = true;
  const booth = aBooth(aFix(), {
    get: (live) => (isThere ? live : undefined),
    patch: () => {
      isThere = false;
      throw new ApiError('not found', 404, 'NotFound');
    },
  });
  assert.match((await booth.press('a')).say, /is gone/);
});

for (const code of [403, 422])
  test(`a cluster that answers ${code} has refused it, in its own words`, async () => {
    const patch = () => {
      throw new ApiError('already Approved by ada: a decision is made once', code, 'Invalid');
    };
    const booth = aBooth(aFix(), { patch });
    assert.match((await booth.press('a')).say, /^The cluster refused it: already Approved by ada/);
    assert.equal(booth.patched(), 1, 'and is not asked again');
  });

test('every press is counted once, by what became of it', async () => {
  const booth = aBooth(aQuotaFix());
  await booth.press('a');
  await booth.press('c', 'telegram:666');
  await booth.press('b');
  await booth.press('r');
  const wanted = ['Asked', 'NotAnApprover', 'Back', 'Rejected'];
  assert.deepEqual(
    booth.counted,
    wanted.map((result) => `telegram ${result}`),
  );
});

test('Back that comes through too late takes nothing back: its presser was told that it may not have', async () => {
  const fix = aQuotaFix();
  const slow: Server = {};
  const booth = aBooth(fix, slow);
  const dee = 'telegram:444';
  await booth.press('a', dee);
  slow.rbac = () => booth.clock.sleep(5_000);
  const answer = booth.press('b', dee);
  await booth.clock.advance(6_000);
  assert.equal((await answer).alert, true);
  assert.equal(booth.confirms.armedFor(fix.metadata.uid, booth.clock.now())?.by, dee);
});

const asked = (untilMs: number) => ({ by, name: 'Ada', untilMs, channel: 'telegram' as const, notice: 'one' });

function questions() {
  const clock = fakeClock(0);
  const stop = new AbortController();
  const confirms = createConfirms({ clock, signal: stop.signal });
  const changes: number[] = [];
  confirms.onChange(() => void changes.push(clock.now()));
  return { clock, confirms, changes, stop };
}

test('a question is over at its last moment, even before anybody noticed', () => {
  const { confirms } = questions();
  confirms.arm('u', asked(30_000));
  assert.equal(confirms.armedFor('u', 29_999)?.name, 'Ada');
  assert.equal(confirms.armedFor('u', 30_000), undefined);
});

test('the end of a question is told, that of an older one is not', async () => {
  const { clock, confirms, changes } = questions();
  confirms.arm('u', asked(30_000));
  await clock.advance(20_000);
  confirms.arm('u', asked(50_000));
  await clock.advance(29_999);
  assert.deepEqual(changes, [0, 20_000]);
  assert.ok(confirms.armedFor('u', clock.now()), 'the first one has not taken the second along');
  await clock.advance(1);
  assert.deepEqual(changes, [0, 20_000, 50_000]);
});

test('what was taken back is told once, and not again when it would have run out', async () => {
  const { clock, confirms, changes } = questions();
  confirms.arm('u', asked(30_000));
  confirms.disarm('u');
  confirms.disarm('u');
  await clock.advance(60_000);
  assert.deepEqual(changes, [0, 0]);
});

test('when the program stops no message is edited for it', async () => {
  const { clock, confirms, changes, stop } = questions();
  confirms.arm('u', asked(30_000));
  stop.abort();
  await clock.advance(60_000);
  assert.deepEqual(changes, [0]);
});
