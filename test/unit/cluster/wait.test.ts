import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../cluster/wait.ts';

const failing = async (): Promise<undefined> => {
  throw new Error('no clouds');
};

test('an answer ends the wait, and zero is an answer', async () => {
  assert.equal(await waitFor('zero', async () => 0, 0), 0);
});

test('the error says what was awaited and what came last', async () => {
  await assert.rejects(
    waitFor('rain', async () => undefined, 0),
    { message: 'waited 0 s for rain; the last probe gave undefined' },
  );
  await assert.rejects(waitFor('rain', failing, 0), {
    message: 'waited 0 s for rain; the last probe failed: no clouds',
  });
});
