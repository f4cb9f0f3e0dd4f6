import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortImage, splitImage } from '../../../src/lib/image.ts';

test('the repository and the tag of an image', () => {
  assert.deepEqual(splitImage('r:5000/a/b'), { repository: 'r:5000/a/b', tag: '' });
  assert.deepEqual(splitImage('r:5000/a/b:2'), { repository: 'r:5000/a/b', tag: '2' });
  assert.equal(splitImage('a@sha256:b').tag, '');
});

test('the end of an image', () =>
  assert.deepEqual(['r:5000/a/b:2', 'web', 'a/b@sha256:c'].map(shortImage), ['b:2', 'web', 'b@sha256:c']));
