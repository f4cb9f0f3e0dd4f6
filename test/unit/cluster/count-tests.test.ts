import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countTests } from '../../cluster/count-tests.ts';

const closing = (tests: number, pass: number, rest = ''): string =>
  `✔ a test\nℹ tests ${tests}\nℹ suites 0\nℹ pass ${pass}\n${rest}`;

const cases = [
  { name: 'all passed', output: closing(3, 3), want: { passed: 3, failed: 0 } },
  {
    name: 'a cancelled one has not passed',
    output: closing(3, 2, 'ℹ fail 0\nℹ cancelled 1\n'),
    want: { passed: 2, failed: 1 },
  },
  { name: 'the other reporter', output: '# tests 2\n# pass 1\n# fail 1\n', want: { passed: 1, failed: 1 } },
  {
    name: 'a program under test that prints such a line',
    output: `ℹ tests 9\nℹ pass 9\n${closing(1, 0)}`,
    want: { passed: 0, failed: 1 },
  },
  { name: 'it never came to its end', output: '✔ a test\n', want: undefined },
];
for (const { name, output, want } of cases) test(name, () => assert.deepEqual(countTests(output), want));
