/**
 * https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this: one message a second in a chat, with
 * "short bursts that go over this limit", 20 a minute in a group, 30 a second of a bot. Edits count as messages.
 */
export const usualLimits = { burstInChat: 3, messagesAMinute: 20, callsASecond: 30 };
/** For a test in which seconds are shorter than Telegram's. */
export const limitsOfNoTime = { burstInChat: Infinity, messagesAMinute: 20, callsASecond: 30 };

/** Whether one more call would go beyond them; it counts all the same. */
export function createLimits(
  limits: typeof usualLimits,
  now: () => number,
): (method: string, chat: string | undefined) => boolean {
  let recent: { isMessage: boolean; chat: string | undefined; atMs: number }[] = [];
  const level = new Map<string, { used: number; atMs: number }>();

  /** A bucket that leaks one message a second. */
  function isBurst(chat: string, atMs: number): boolean {
    const before = level.get(chat) ?? { used: 0, atMs };
    const used = Math.max(before.used - (atMs - before.atMs) / 1_000, 0) + 1;
    level.set(chat, { used, atMs });
    return used > limits.burstInChat;
  }

  return (method, chat) => {
    const isMessage = ['sendMessage', 'editMessageText'].includes(method);
    const atMs = now();
    recent = recent.filter((call) => call.atMs > atMs - 60_000);
    const inSecond = recent.filter((call) => call.atMs > atMs - 1_000).length;
    const inChat = recent.filter((call) => call.isMessage && call.chat === chat).length;
    recent.push({ isMessage, chat, atMs });
    if (inSecond >= limits.callsASecond) return true;
    if (!isMessage || chat === undefined) return false;
    const isTooMany = chat.startsWith('-') && inChat >= limits.messagesAMinute;
    return isBurst(chat, atMs) || isTooMany;
  };
}
