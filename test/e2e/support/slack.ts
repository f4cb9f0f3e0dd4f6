import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readMessage } from '../../support/block-kit.ts';

export const slackTokens = {
  SLACK_BOT_TOKEN: 'xoxb-e2etesttoken-e2etesttoken',
  SLACK_APP_TOKEN: 'xapp-e2etesttoken-e2etesttoken',
};
export const slackChannel = 'C0E2ETEST';
export const slackAda = 'U0ADA';
export const slackMallory = 'U0MALLORY';

const binary = new URL('../../../node_modules/local-slack-linux-x64/bin/local-slack', import.meta.url).pathname;

interface Block {
  type: string;
  block_id?: string;
  elements?: { type: string; action_id?: string; value?: string; text?: { text: string } }[];
}
interface Stored {
  ts: string;
  text: string;
  blocks?: Block[];
  subtype?: string;
  ephemeral_to?: string;
}
export interface SlackMessage {
  ts: string;
  /** All that people can read. */
  text: string;
  buttons: { text: string; action_id: string; value: string }[];
}

export interface LocalSlack {
  apiUrl: string;
  messages(): Promise<SlackMessage[]>;
  /** Said to this person alone. */
  whispers(user: string): Promise<string[]>;
  press(message: SlackMessage, label: RegExp, user?: string): Promise<void>;
  /** It takes connections and says nothing, until it is thawed. */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

/** A Slack that nobody here wrote (local-slack). It listens on every interface: only in a network of its own. */
export async function startLocalSlack(address: string): Promise<LocalSlack> {
  if (!existsSync(binary)) throw new Error('local-slack is not installed: npm ci brings it on Linux, x64');
  const config = join(await mkdtemp(join(tmpdir(), 'local-slack-')), 'config.json');
  const app = { appId: 'A0TAPFIX', botUserId: 'U0TAPFIX', botName: 'tapfix' };
  const tokens = { botToken: slackTokens.SLACK_BOT_TOKEN, appToken: slackTokens.SLACK_APP_TOKEN };
  const users = [slackAda, slackMallory].map((id) => ({ id, name: id.toLowerCase() }));
  const channels = [{ id: slackChannel, name: 'ops', members: [slackAda, slackMallory, app.botUserId] }];
  await writeFile(config, JSON.stringify({ apps: [{ ...app, ...tokens }], users, channels }));
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const child = spawn(binary, ['--config', config, '--port', String(port), '--base-host', address], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;

  async function stored(): Promise<Stored[]> {
    const response = await fetch(`${url}/_control/messages/${slackChannel}`);
    return ((await response.json()) as { messages: Stored[] }).messages;
  }
  for (let tries = 0; ; tries++) {
    if (await stored().catch(() => undefined)) break;
    if (tries === 100) throw new Error('local-slack did not start');
    await sleep(100);
  }
  return {
    apiUrl: `http://${address}:${port}/api/`,
    messages: async () => (await stored()).filter(({ subtype }) => subtype !== 'ephemeral').map(asShown),
    whispers: async (user) => (await stored()).filter((m) => m.ephemeral_to === user).map(({ text }) => text),
    async press(message, label, user = slackAda) {
      const button = message.buttons.find(({ text }) => label.test(text));
      if (!button) throw new Error(`no button ${label} on\n${message.text}`);
      const action = { type: 'button', action_id: button.action_id, block_id: 'b', value: button.value };
      const body = JSON.stringify({ channel: slackChannel, messageTs: message.ts, user, action });
      const headers = { 'content-type': 'application/json' };
      await fetch(`${url}/_control/interact`, { method: 'POST', headers, body });
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The stand-in takes everything; what the real one would refuse is refused here. */
const asShown = ({ ts, text, blocks = [] }: Stored): SlackMessage => ({
  ts,
  text: readMessage({ text, blocks }),
  buttons: blocks
    .flatMap(({ type, elements }) => (type === 'actions' ? elements! : []))
    .map((button) => ({ text: button.text!.text, action_id: button.action_id!, value: button.value! })),
});
