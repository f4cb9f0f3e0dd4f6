import { test } from 'node:test';
import { assertNothingIsBroken, assertStatesAreSeen, playAsPerson } from './support/demo-person.ts';

// Other widths, and --yes: test/long/demo-screen.test.ts.
test('a person in a window of 80 x 24 sees each step of the demo', { timeout: 120_000 }, async (t) => {
  const demo = await playAsPerson(t, { columns: 80, rows: 24 });
  assertStatesAreSeen(demo.frames());
  assertNothingIsBroken(demo.frames());
});
