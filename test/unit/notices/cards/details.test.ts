import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composeMessage } from '../../../../src/notices/cards/compose.ts';
import { composeDetails } from '../../../../src/notices/cards/details.ts';
import type { Line, Message } from '../../../../src/notices/cards/message.ts';
import { aContext } from '../../../golden/scenes.ts';
import { aFix, at } from '../../../support/fixes.ts';

const linesOf = ({ cards }: Message, label: string): readonly Line[] =>
  cards[0]!.rows.find((row) => row.label === label)?.lines ?? [];

test('Details keep to themselves what the card does', () => {
  const diff = 'app args  --db=postgres://app:hunter2@db/shop → --db=postgres://app:hunter3@db/shop';
  const fix = aFix({ status: { preview: { diff, targetHash: 'abc', at: at('02:12:36') } } });
  const details = linesOf(composeDetails(fix, [], aContext()), 'Fix');
  assert.deepEqual(details[1], {
    code: 'app args  --db=postgres://[redacted]@db/shop → --db=postgres://[redacted]@db/shop',
  });
  assert.doesNotMatch(JSON.stringify(composeMessage([fix], aContext())), /hunter/);
});
