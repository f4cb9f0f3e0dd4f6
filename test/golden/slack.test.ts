import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { renderSlack } from '../../src/channels/slack/render.ts';
import { readMessage } from '../support/block-kit.ts';
import { messageIn, scenes } from './scenes.ts';

/** The whole of what Slack is sent; its Block Kit Builder shows a file of these as it will look. UPDATE_GOLDEN=1 writes them anew. */
const update = process.env['UPDATE_GOLDEN'] === '1';
const fileOf = (name: string): string => `slack-${name.replaceAll(' ', '-')}.json`;

for (const scene of scenes)
  test(`${scene.name}, in Slack`, () => {
    const message = renderSlack(messageIn(scene));
    const file = new URL(fileOf(scene.name), import.meta.url);
    const text = `${JSON.stringify(message, undefined, 2)}\n`;
    if (update) writeFileSync(file, text);
    assert.equal(text, readFileSync(file, 'utf8'));
    readMessage(message);
  });

test('no file is left of a scene that is gone', () => {
  const files = readdirSync(new URL('.', import.meta.url)).filter((file) => /^slack-.*\.json$/.test(file));
  assert.deepEqual(files.sort(), scenes.map(({ name }) => fileOf(name)).sort());
});
