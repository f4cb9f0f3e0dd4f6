import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../cluster/cluster.ts';
import type { startFakeSlack } from '../../support/fake-slack.ts';
import type { startFakeTelegram } from '../../support/fake-telegram.ts';
import { ada, chatId } from './chat.ts';
import { slackAda, slackChannel } from './slack.ts';

type Telegram = Awaited<ReturnType<typeof startFakeTelegram>>;
type Slack = Awaited<ReturnType<typeof startFakeSlack>>;

/** A page of the list that "Show all" opens. */
export interface Page {
  title: string;
  buttons: { text: string; data: string }[];
  press(data: string): Promise<Page>;
}

/** On Telegram: a message of its own, which turns in place. */
export async function openInTelegram(cluster: Cluster, telegram: Telegram): Promise<Page> {
  const before = telegram.messages().length;
  const [message] = telegram.messages().filter(({ buttons }) => buttons.some(({ text }) => text === 'Show all'));
  telegram.press(message!.buttons.find(({ text }) => text === 'Show all')!.callback_data, {
    from: ada,
    message: message!.id,
    chat: String(chatId),
  });
  await cluster.waitFor('the list in Telegram', async () => telegram.messages().length > before, 30_000);
  const { id } = telegram.messages().at(-1)!;
  const page = (): Page => {
    const shown = telegram.messages().find((one) => one.id === id)!;
    return {
      title: shown.text.split('\n')[0]!,
      buttons: shown.buttons.map(({ text, callback_data }) => ({ text, data: callback_data })),
      async press(data) {
        // As it is now: a press on another button may have changed it since this page was read.
        const asShown = (): string => JSON.stringify(telegram.messages().find((one) => one.id === id));
        const [answers, was] = [telegram.answers.length, asShown()];
        telegram.press(data, { from: ada, message: id, chat: String(chatId) });
        const isDone = async (): Promise<boolean> => telegram.answers.length > answers && asShown() !== was;
        // A group gets 20 posts and edits a minute, and alerts go first.
        await cluster.waitFor('the page to turn in Telegram', isDone, 90_000);
        return page();
      },
    };
  };
  return page();
}

/** The same on Slack: for the presser's eyes only. */
export async function openInSlack(cluster: Cluster, slack: Slack): Promise<Page> {
  const [message] = slack.messages().filter(({ buttons }) => buttons.some(({ text }) => text === 'Show all'));
  const press = async (data: string, over: { message?: string; ephemeral?: boolean }): Promise<Page> => {
    const before = slack.ephemerals.length;
    slack.press(data, { from: slackAda, channel: slackChannel, ...over });
    const shown = (): Slack['ephemerals'][number] | undefined =>
      slack.ephemerals.slice(before).find(({ buttons }) => buttons !== undefined);
    await cluster.waitFor('the list in Slack', async () => shown() !== undefined, 30_000);
    return {
      title: shown()!.text.split('\n')[0]!,
      buttons: shown()!.buttons!.map(({ text, value }) => ({ text, data: value })),
      press: (next) => press(next, { ephemeral: true, message: '1.2' }),
    };
  };
  const { value } = message!.buttons.find(({ text }) => text === 'Show all')!;
  return press(value, { message: message!.ts });
}

export const turned = async (page: Page, label: string): Promise<Page> =>
  page.press(page.buttons.find(({ text }) => text.includes(label))!.data);

/**
 * The page, shown again until `isReady`: it is made from what the watcher has heard of, which may be a little less than
 * what the API server knows.
 */
export async function shownAgain(cluster: Cluster, page: Page, isReady: (page: Page) => boolean): Promise<Page> {
  const isLast = !page.buttons.some(({ text }) => text.includes('Next'));
  const [away, back] = isLast ? ['Previous', 'Next'] : ['Next', 'Previous'];
  let now = page;
  const probe = async (): Promise<Page | undefined> => {
    if (isReady(now)) return now;
    await sleep(2_000); // a vendor limits how often a message is edited
    now = await turned(await turned(now, away), back);
    return undefined;
  };
  return cluster.waitFor(`the buttons of ${page.title}`, probe, 120_000).catch((error: unknown) => {
    throw new Error(`${String(error)}; on the page: ${now.buttons.map(({ text }) => text).join(' | ')}`, {
      cause: error,
    });
  });
}

/** Whether the workload of this number can be rolled back on the page. */
const offers =
  (number: number) =>
  ({ buttons }: Page): boolean =>
    buttons.some(({ text }) => text === `${number} Roll back`);

/** Presses the button of the workload of this number, which is on the page, and then Yes beside its diff, which takes the page's place. */
export async function approve(cluster: Cluster, page: Page, number: number): Promise<void> {
  const { buttons, press } = await shownAgain(cluster, page, offers(number));
  const asked = await press(buttons.find(({ text }) => text === `${number} Roll back`)!.data);
  await asked.press(asked.buttons.find(({ text }) => text.startsWith('Yes, '))!.data);
}
