import assert from 'node:assert/strict';
import { isCleared, type Remediation } from '../../../src/kube/remediation.ts';
import { pathOf } from '../../../src/kube/resources.ts';
import { aNotice, aRemediation } from '../builders.ts';
import { type Facts, type Ground, named, rawWord, refusal, said, type Thing, word } from '../ground.ts';

const who = 'admin';

async function fix({ api, ns }: Ground, over: object = {}) {
  const name = named('fix');
  const made = await api.create<Remediation>({ kind: 'Remediation', namespace: ns }, aRemediation(name, who, over));
  const ref = { kind: 'Remediation' as const, namespace: ns, name };
  const status = (body: object, metadata: object = {}) =>
    api.patch<Remediation>({ ...ref, subresource: 'status' }, 'merge', { metadata, status: body });
  return { name, made, ref, status };
}

async function notice({ api, ns }: Ground, over: object = {}) {
  const name = named('notice');
  const made = await api.create<Thing>({ kind: 'Notice', namespace: ns }, aNotice(name, over));
  return { made, ref: { kind: 'Notice' as const, namespace: ns, name } };
}

const refusesFix = (what: string, over: object, words: RegExp): Facts => ({
  [`a Remediation ${what} is 422 Invalid`]: async (ground) => {
    const error = await refusal(fix(ground, over));
    assert.equal(word(error), '422 Invalid');
    assert.match(error.message, words);
  },
});

const incident = (aRemediation('x', who) as { spec: { incident: Record<string, unknown> } }).spec.incident;
const condition = {
  type: 'Confirmed',
  status: 'True',
  reason: 'Derived',
  message: 'm',
  lastTransitionTime: '2026-11-16T10:00:00Z',
};

const good = '2026-11-16T10:00:00Z';
const withApproval = (at: string) => ({ approval: { state: 'Pending', at } });
const withCondition = (lastTransitionTime: string) => ({ conditions: [{ ...condition, lastTransitionTime }] });

/** Every time in the spec. */
const specTimes: Record<string, (at: string) => object> = {
  'spec.incident.firstSeen': (firstSeen) => ({ incident: { ...incident, firstSeen } }),
  'spec.approval.at': withApproval,
};
/** Every time in the status. */
const statusTimes: Record<string, (at: string) => object> = {
  'status.conditions[0].lastTransitionTime': withCondition,
  'status.preview.at': (at) => ({ preview: { diff: '', targetHash: '', at } }),
  'status.execution.startedAt': (startedAt) => ({ execution: { startedAt } }),
  'status.execution.appliedAt': (appliedAt) => ({ execution: { appliedAt } }),
  'status.sightings.lastSeen': (lastSeen) => ({ sightings: { count: 1, lastSeen } }),
};

/** The format date-time accepts all of these but the last three; CEL cannot parse them, so every later update would fail. */
const wedging = [
  '2026-01-01T10:00:00+99:99',
  '2026-01-01T10:00:00+24:00',
  '2026-01-01T10:00:00-10:60',
  '2026-01-01t10:00:00z',
  '2026-01-01T24:00:00Z',
  '2026-13-01T10:00:00Z',
  '2026-02-31T10:00:00Z',
];
const readable = ['2026-11-16T10:00:00.123Z', '2026-11-16T10:00:00.123456789+05:30', '2026-11-16T10:00:00-23:59', good];

/** The field of the refusal, so that nothing else is refused by mistake. */
async function refusesTime(field: string, write: (at: string) => Promise<unknown>): Promise<void> {
  for (const at of wedging) {
    const error = await refusal(write(at));
    assert.equal(word(error), '422 Invalid', `${field}: ${at}`);
    assert.ok(error.message.includes(`${field}: Invalid value: "${at}"`), error.message);
  }
}

export const custom: Facts = {
  'a time that CEL cannot parse is 422 Invalid in every field of the spec': async (ground) => {
    for (const [field, withTime] of Object.entries(specTimes))
      await refusesTime(field, (at) => fix(ground, withTime(at)));
  },
  'nor does any field of the status take one, and the record can still be written': async (ground) => {
    const { status } = await fix(ground);
    for (const [field, withTime] of Object.entries(statusTimes)) {
      await refusesTime(field, (at) => status(withTime(at)));
      await status(withTime(good));
    }
    assert.equal((await status({ phase: 'Noticed' })).status?.phase, 'Noticed');
  },
  'nor a Notice that was posted': async (ground) => {
    const { ref } = await notice(ground);
    const posted = (postedAt: string) =>
      ground.api.patch<Thing>({ ...ref, subresource: 'status' }, 'merge', { status: { postedAt } });
    await refusesTime('status.postedAt', posted);
    for (const at of readable) await posted(at);
  },
  'a time is taken with and without fractions, in every zone, and the record can be written after it': async (
    ground,
  ) => {
    for (const at of readable) {
      const made = Object.assign({}, ...Object.values(specTimes).map((withTime) => withTime(at)));
      const { ref, status } = await fix(ground, made);
      for (const withTime of Object.values(statusTimes)) await status(withTime(at));
      const metadata = { annotations: { 'tapfix.dev/acknowledged-by': who } };
      const written = await ground.api.patch<Remediation>(ref, 'merge', { metadata });
      assert.equal(written.spec.incident.firstSeen, at);
    }
  },
  'what was left out of a Remediation is filled in': async (ground) => {
    const { spec } = (await fix(ground)).made;
    assert.deepEqual(spec.approval, { state: 'Pending' });
    assert.deepEqual(spec.context, { changed: [], evidence: [] });
    assert.deepEqual([spec.ttlMinutes, spec.diagnosis, spec.rationale], [30, '', '']);
  },
  'half a context is filled in as well': async (ground) => {
    const { spec } = (await fix(ground, { context: { changed: ['a'] } })).made;
    assert.deepEqual(spec.context, { changed: ['a'], evidence: [] });
  },
  'fields that nobody defined are dropped, at every depth': async (ground) => {
    const { made } = await fix(ground, { colour: 'red', incident: { ...incident, mood: 'bad' } });
    assert.equal('colour' in made.spec, false);
    assert.equal('mood' in made.spec.incident, false);
  },
  'a new Remediation has generation 1 and no status': async (ground) => {
    const { made } = await fix(ground);
    assert.equal(made.metadata.generation, 1);
    assert.equal(made.status, undefined);
  },
  'a status given at creation is dropped': async ({ api, ns }) => {
    const body = { ...aNotice(named()), status: { message: '1' } };
    assert.equal((await api.create<Thing>({ kind: 'Notice', namespace: ns }, body)).status, undefined);
  },
  ...refusesFix('without an incident', { incident: undefined }, /spec\.incident: Required value/),
  ...refusesFix(
    'of a severity that does not exist',
    { incident: { ...incident, severity: 'fatal' } },
    /spec\.incident\.severity: Unsupported value: "fatal": supported values: "critical", "warning", "info"/,
  ),
  ...refusesFix(
    'with a number where a text belongs',
    { diagnosis: 5 },
    /spec\.diagnosis: Invalid value: "integer": spec\.diagnosis in body must be of type string: "integer"/,
  ),
  ...refusesFix(
    'that may be decided for 61 minutes',
    { ttlMinutes: 61 },
    /spec\.ttlMinutes: Invalid value: 61: spec\.ttlMinutes in body should be less than or equal to 60/,
  ),
  ...refusesFix(
    'that may be decided for no time',
    { ttlMinutes: 0 },
    /spec\.ttlMinutes: Invalid value: 0: spec\.ttlMinutes in body should be greater than or equal to 1/,
  ),
  ...refusesFix('with half a minute', { ttlMinutes: 1.5 }, /spec\.ttlMinutes/),
  ...refusesFix(
    'with a diagnosis that is too long',
    { diagnosis: 'x'.repeat(513) },
    /spec\.diagnosis: Too long: may not be more than 512 bytes/,
  ),
  ...refusesFix('with a bell in its diagnosis', { diagnosis: 'ding\u0007' }, /spec\.diagnosis in body should match/),
  ...refusesFix(
    'with eleven pieces of evidence',
    { context: { evidence: Array.from({ length: 11 }, String) } },
    /spec\.context\.evidence: Too many: 11: must have at most 10 items/,
  ),
  ...refusesFix(
    'with a time that is none',
    { incident: { ...incident, firstSeen: 'yesterday' } },
    /spec\.incident\.firstSeen.*date-time/,
  ),
  ...refusesFix('with a list where an object belongs', { context: [] }, /spec\.context/),
  'a length is counted in characters, not in bytes': async (ground) => {
    assert.equal((await fix(ground, { diagnosis: 'ü'.repeat(512) })).made.spec.diagnosis.length, 512);
  },
  'a status is written by itself, without changing the generation': async (ground) => {
    const { status, made } = await fix(ground);
    const patched = await status({ phase: 'Noticed', conditions: [condition] });
    assert.equal(patched.status?.phase, 'Noticed');
    assert.deepEqual(patched.status?.conditions, [condition]);
    assert.equal(patched.metadata.generation, 1);
    assert.deepEqual(patched.spec, made.spec);
  },
  'what is written to the status leaves spec and labels': async (ground) => {
    const { ref, made } = await fix(ground);
    const body = { metadata: { labels: { a: 'b' } }, spec: { ttlMinutes: 5 }, status: { phase: 'Noticed' } };
    const patched = await ground.api.patch<Remediation>({ ...ref, subresource: 'status' }, 'merge', body);
    assert.deepEqual(patched.spec, made.spec);
    assert.equal(patched.metadata.labels, undefined);
  },
  'what is written to the object leaves its status': async (ground) => {
    const { ref, status } = await fix(ground);
    await status({ phase: 'Noticed' });
    const body = { metadata: { annotations: { 'tapfix.dev/acknowledged-by': who } }, status: { phase: 'Resolved' } };
    const patched = await ground.api.patch<Remediation>(ref, 'merge', body);
    assert.equal(patched.status?.phase, 'Noticed');
  },
  'a decision is recorded under the resourceVersion it was made on, and is a new generation': async (ground) => {
    const { ref, made } = await fix(ground);
    const { resourceVersion } = made.metadata;
    const approval = { state: 'Rejected', by: who, at: '2026-11-16T10:01:00Z', via: 'kubectl' };
    const decided = await ground.api.patch<Remediation>(ref, 'merge', {
      metadata: { resourceVersion },
      spec: { approval },
    });
    assert.deepEqual(decided.spec.approval, approval);
    assert.equal(decided.metadata.generation, 2);
    const late = ground.api.patch(ref, 'merge', { metadata: { resourceVersion }, spec: { approval } });
    assert.equal(await said(late), '409 Conflict');
  },
  'a status written on an old reading is 409 Conflict': async (ground) => {
    const { status, made } = await fix(ground);
    const { uid, resourceVersion } = made.metadata;
    await status({ phase: 'Noticed' }, { uid, resourceVersion });
    assert.equal(
      await said(status({ phase: 'Noticed', conditions: [condition] }, { uid, resourceVersion })),
      '409 Conflict',
    );
  },
  'a uid in a status is no precondition: only the resourceVersion is': async (ground) => {
    const { status } = await fix(ground);
    assert.equal((await status({ phase: 'Noticed' }, { uid: 'another' })).status?.phase, 'Noticed');
  },
  'conditions are replaced as a whole, and no two are of one type': async (ground) => {
    const { status } = await fix(ground);
    await status({ phase: 'Noticed', conditions: [condition] });
    const cleared = { ...condition, type: 'IncidentCleared' };
    assert.equal(isCleared(await status({ conditions: [condition, cleared] })), true);
    assert.equal(await said(status({ conditions: [condition, condition] })), '422 Invalid');
  },
  'a status that the schema does not know is 422 Invalid': async (ground) => {
    const { status } = await fix(ground);
    assert.equal(await said(status({ phase: 'Perhaps' })), '422 Invalid');
    assert.equal(await said(status({ sightings: { count: -1, lastSeen: '2026-11-16T10:00:00Z' } })), '422 Invalid');
  },
  'a null in a merge patch of a status removes the field': async (ground) => {
    const { ref } = await notice(ground);
    const sub = { ...ref, subresource: 'status' };
    await ground.api.patch(sub, 'merge', { status: { lastError: 'no', attempts: 1 } });
    const patched = await ground.api.patch<Thing>(sub, 'merge', { status: { message: '4711', lastError: null } });
    assert.deepEqual(patched.status, { message: '4711', attempts: 1 });
  },
  'a null where a default is takes the default; where none is it is dropped': async (ground) => {
    const { made } = await fix(ground, { diagnosis: null, follows: null });
    assert.equal(made.spec.diagnosis, '');
    assert.equal('follows' in made.spec, false);
  },
  'a Notice grows by a patch of its members': async (ground) => {
    const { ref } = await notice(ground);
    const members = [{ namespace: 'shop', name: 'api-1', uid: 'u-1' }];
    const grown = await ground.api.patch<Thing>(ref, 'merge', { spec: { members } });
    assert.deepEqual(grown.spec?.['members'], members);
    assert.equal(grown.metadata.generation, 2);
  },
  'a Notice in a channel that does not exist is 422 Invalid': async (ground) => {
    assert.equal(await said(notice(ground, { channel: 'pigeon' })), '422 Invalid');
  },
  'a PUT of a custom resource has to say which version it replaces: 422 Invalid': async (ground) => {
    const { made, ref } = await notice(ground);
    const { resourceVersion, ...metadata } = made.metadata;
    const path = pathOf('Notice', ground.ns, ref.name);
    assert.equal(rawWord(await ground.raw('PUT', path, { body: { ...made, metadata } })), '422 Invalid');
    assert.equal(
      rawWord(await ground.raw('PUT', path, { body: { ...made, metadata: { ...metadata, resourceVersion } } })),
      '200',
    );
  },
  'a custom resource has to name its kind: 400 BadRequest': async ({ raw, ns }) => {
    const { kind: _kind, ...body } = aNotice(named()) as Record<string, unknown>;
    assert.equal(rawWord(await raw('POST', pathOf('Notice', ns), { body })), '400 BadRequest');
  },
  'a dry run of a patch of a custom resource changes nothing': async (ground) => {
    const { ref, made } = await notice(ground);
    await ground.api.patch(ref, 'merge', { spec: { chat: 'other' } }, { dryRun: true });
    assert.deepEqual(await ground.api.get(ref), made);
  },
};
