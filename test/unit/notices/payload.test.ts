import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePress, encodePress, shownHash } from '../../../src/notices/payload.ts';
import { aFix } from '../../support/fixes.ts';

test('a payload says who, what and as it was shown, in far less than 64 bytes', () => {
  const fix = aFix();
  const data = encodePress('a', fix);
  assert.equal(Buffer.byteLength(data), 35);
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
