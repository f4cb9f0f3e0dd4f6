/** https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this: in a group, and of a bot. */
export const usualLimits = { messagesAMinute: 20, callsASecond: 30 };

/** Whether one more call would go beyond them; it counts all the same. */
export function createLimits(limits: typeof usualLimits): (method: string, chat: string) => boolean {
  const recent: { method: string; chat: string; atMs: number }[] = [];
  return (method, chat) => {
    if (!['sendMessage', 'editMessageText'].includes(method)) return false;
    const atMs = Date.now();
    const before = recent.filter((call) => call.atMs > atMs - 60_000);
    const sent = before.filter((call) => call.method === 'sendMessage' && call.chat === chat).length;
    recent.splice(0, recent.length, ...before, { method, chat, atMs });
    const busy = before.filter((call) => call.atMs > atMs - 1_000).length;
    return busy >= limits.callsASecond || (method === 'sendMessage' && sent >= limits.messagesAMinute);
  };
}
