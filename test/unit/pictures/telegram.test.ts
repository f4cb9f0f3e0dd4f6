import assert from 'node:assert/strict';
import { test } from 'node:test';
import { telegram } from '../../../scripts/pictures/telegram.ts';
import { composeMessage } from '../../../src/notices/cards/compose.ts';
import { scenes } from '../../golden/scenes.ts';

test('every scene can be shown, and none of its words becomes markup of the page', () => {
  for (const { members, context } of scenes)
    assert.match(telegram.screen(telegram.show(composeMessage(members, context)), 'chat'), /class="bubble"/);
  const page = telegram.screen({ text: '<b>&lt;script&gt;</b>', buttons: [['<img>']] }, 'message');
  assert.match(page, /&lt;script&gt;/);
  assert.doesNotMatch(page, /<script|<img/);
});
