import type { Answer, Channel, Handlers, Press } from '../channels/channel.ts';
import type { Message } from '../notices/cards/message.ts';
import { openPayload, sealPayload } from '../notices/payload.ts';

interface SealDeps {
  /** The ids of this installation. Buttons carry the first; the others were used before, or would be without some right. */
  own: readonly [string, ...string[]];
  /** A button of another installation was pressed: the two share one bot. */
  onForeign(press: Press): Answer;
}

/** The same channel, with buttons that name this installation. Presses on those of another one are not handled. */
export function sealed(channel: Channel, { own, onForeign }: SealDeps): Channel {
  const seal = (message: Message): Message => withData(message, (data) => sealPayload(data, own[0]));
  const sealShown = (answer: Answer): Answer => (answer.show ? { ...answer, show: seal(answer.show) } : answer);

  function opened({ onPress, onCommand, commands }: Handlers): Handlers {
    return {
      async onPress(press) {
        const data = openPayload(press.data, own);
        return data === undefined ? onForeign(press) : sealShown(await onPress({ ...press, data }));
      },
      onCommand: async (command) => sealShown(await onCommand(command)),
      commands,
    };
  }

  return {
    ...channel,
    post: (place, message, replyTo, turn) => channel.post(place, seal(message), replyTo, turn),
    edit: (place, id, message, turn) => channel.edit(place, id, seal(message), turn),
    run: (handlers, signal) => channel.run(opened(handlers), signal),
  };
}

function withData(message: Message, change: (data: string) => string): Message {
  const rows = (buttons: NonNullable<Message['buttons']>): NonNullable<Message['buttons']> =>
    buttons.map((row) => row.map((button) => ({ ...button, data: change(button.data) })));
  const cards = message.cards.map((card) => ({ ...card, buttons: rows(card.buttons) }));
  return { ...message, cards, ...(message.buttons && { buttons: rows(message.buttons) }) };
}
