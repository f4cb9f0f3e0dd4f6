import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { commands } from '../../src/approvals/commands.ts';

interface AppManifest {
  display_information: { name: string; description: string };
  features: {
    bot_user: { display_name: string };
    slash_commands: { command: string; description: string; usage_hint: string; url?: string }[];
  };
  oauth_config: { scopes: { bot: string[]; user?: string[] } };
  settings: {
    interactivity: { is_enabled: boolean; request_url?: string };
    event_subscriptions: { bot_events: string[]; request_url?: string };
    socket_mode_enabled: boolean;
    token_rotation_enabled: boolean;
  };
}

const file = new URL('../../deploy/slack-manifest.yaml', import.meta.url);
const manifest = parse(readFileSync(file, 'utf8')) as AppManifest;

test('the app may write where it is invited, hear its buttons and what is written to it over a socket, and nothing else', () => {
  assert.deepEqual(manifest.oauth_config.scopes, { bot: ['chat:write', 'commands', 'app_mentions:read'] });
  assert.deepEqual(manifest.settings.event_subscriptions, { bot_events: ['app_mention'] });
  assert.deepEqual(manifest.settings.interactivity, { is_enabled: true });
  assert.equal(manifest.settings.socket_mode_enabled, true);
  assert.equal(manifest.settings.token_rotation_enabled, false);
});

test('it fits the limits of an app manifest, and is called as the words of tapfix call it', () => {
  const { name, description } = manifest.display_information;
  assert.ok(name.length <= 35 && description.length <= 140);
  assert.equal(manifest.features.bot_user.display_name, 'tapfix'); // "/invite @tapfix"
});

test('its command is the one that tapfix answers, and its hint names only what there is', () => {
  const [slash, ...others] = manifest.features.slash_commands;
  assert.deepEqual([slash!.command, slash!.url, others.length], ['/tapfix', undefined, 0]);
  const named = slash!.usage_hint.split(' | ').map((hint) => hint.split(' ')[0]);
  const known = commands.map(({ name }) => name);
  assert.deepEqual(
    named.filter((name) => !known.includes(name!)),
    [],
  );
});
