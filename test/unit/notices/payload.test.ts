import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeAll,
  decodePage,
  decodePress,
  encodeAll,
  encodePage,
  encodePress,
  installationId,
  isShown,
  onPage,
  openPayload,
  sealPayload,
  shownHash,
} from '../../../src/notices/payload.ts';
import { hashOf, shortUid } from '../../../src/lib/hash.ts';
import { aFix } from '../../support/fixes.ts';

test('a payload says who, what and as it was shown, in far less than 64 bytes', () => {
  const fix = aFix();
  const data = encodePress('a', fix);
  assert.equal(Buffer.byteLength(data), 30);
  assert.deepEqual(decodePress(data), { verb: 'a', uid: fix.metadata.uid, shown: shownHash(fix) });
});

for (const garbage of [
  '',
  'a',
  'a:b:c',
  'x:AAAAAAAAAAAAAAAAAAAAAA:0123456789',
  `${encodePress('a', aFix())}0`,
  'a:\u0000',
  '🙂',
]) {
  test(`garbage is nobody's press: ${JSON.stringify(garbage)}`, () => assert.equal(decodePress(garbage), undefined));
}

test('another action, diff or target is another hash; a new count or condition is not', () => {
  const preview = aFix().status!.preview!;
  const hashes = [
    shownHash(aFix()),
    shownHash(aFix({ spec: { action: { type: 'RolloutUndo', rolloutUndo: { toRevision: 40 } } } })),
    shownHash(aFix({ status: { preview: { ...preview, diff: 'x' } } })),
    shownHash(aFix({ status: { preview: { ...preview, targetHash: 'x' } } })),
  ];
  assert.equal(new Set(hashes).size, 4);
  assert.equal(shownHash(aFix({ status: { sightings: { count: 99, lastSeen: 'x' } }, conditions: [] })), hashes[0]);
});

const notice = '0123456789abcdef0123456789abcdef';
const own = installationId('a1b2', 'tapfix');
const other = installationId('c3d4', 'tapfix');

const everyButton: [string, string, number][] = [
  ['a press', encodePress('a', aFix()), 34],
  ['a press on a page', onPage({ label: '', data: encodePress('z', aFix()) }, { notice, page: 999 }).data, 59],
  ['a page', encodePage({ notice, page: 7 })!, 30],
  ['all of a message', encodeAll(notice)!, 27],
];
for (const [name, data, bytes] of everyButton)
  test(`${name} says which installation it is of, in ${bytes} bytes without separators`, () => {
    const sealed = sealPayload(data, own);
    assert.equal(Buffer.byteLength(sealed), bytes);
    assert.match(sealed, /^[A-Za-z0-9_-]+$/);
    assert.equal(openPayload(sealed, [own]), data);
    assert.equal(openPayload(sealed, [other, own]), data, 'an installation may have had another id');
    assert.equal(openPayload(sealed, [other]), undefined);
    assert.equal(openPayload(data, [own]), data, 'one that names none is judged by what it is about');
  });

test('a button on a page carries both, whatever the page', () => {
  const data = encodePress('k', aFix());
  for (const page of [1, 10, 999]) {
    const pressed = decodePage(onPage({ label: '', data }, { notice, page }).data);
    assert.deepEqual(pressed, { ref: { notice, page }, inner: data });
    assert.deepEqual(decodePage(encodePage({ notice, page })!), { ref: { notice, page } });
  }
  assert.equal(decodePage(`p${shortUid(notice)}000`), undefined);
  assert.equal(decodeAll(encodeAll(notice)!), notice);
});

test('a button of a message that an earlier version posted still works', () => {
  const fix = aFix();
  const { spec, status } = fix;
  const old = hashOf([spec.action, status!.preview!.diff, status!.preview!.targetHash], 10);
  const data = `a:${shortUid(fix.metadata.uid)}:${old}`;
  const payload = decodePress(openPayload(data, [own])!)!;
  assert.deepEqual(payload, { verb: 'a', uid: fix.metadata.uid, shown: old });
  assert.ok(isShown(payload.shown, fix));
  assert.ok(!isShown(payload.shown, aFix({ status: { preview: { ...status!.preview!, diff: 'x' } } })));
  assert.deepEqual(decodePage(`${data}:${shortUid(notice)}:12`), { ref: { notice, page: 12 }, inner: data });
  assert.deepEqual(decodePage(`p:${shortUid(notice)}:3`), { ref: { notice, page: 3 } });
  assert.equal(decodeAll(`o:${shortUid(notice)}`), notice);
});

test('the same cluster and namespace are the same installation, any other is another', () => {
  assert.equal(installationId('a1b2', 'tapfix'), own);
  assert.equal(own.length, 4);
  assert.equal(new Set([own, other, installationId('a1b2', 'tapfix-2')]).size, 3);
});
