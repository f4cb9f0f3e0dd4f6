import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleText } from '../../../../src/channels/console/console-text.ts';
import { composeDetails } from '../../../../src/notices/cards/details.ts';
import { aContext } from '../../../golden/scenes.ts';
import { commandOf, longCommands } from '../long-commands.ts';

for (const [name, fix, length] of longCommands)
  test(`always whole on the console: ${name}`, () => {
    const lines = consoleText(composeDetails(fix, [], aContext()), () => undefined).split('\n');
    for (const line of commandOf(length).split('\n')) assert.ok(lines.some((shown) => shown.trim() === line));
    assert.ok(!lines.some((line) => line.includes('jsonpath')));
  });
