import { consoleText } from '../../channels/console/console-text.ts';
import { shortIdOf } from '../../kube/remediation.ts';
import { isPending } from '../../notices/cards/card-context.ts';
import { composeDetails } from '../../notices/cards/details.ts';
import type { ClusterOptions, Session } from '../cluster-session.ts';
import { findRecord } from './find-record.ts';
import { asText, type Format, nameLine } from './list.ts';

export interface ShowOptions extends ClusterOptions {
  name: string;
  output?: Format;
}

/** How wide a text may be where nobody says how wide the window is: as on a card. */
const usualColumns = 80;

/** `tapfix show`: everything about one record, as the button "Details" shows it. */
export async function runShow({ name, output }: ShowOptions, session: Session): Promise<number> {
  const { io, clock, terminal, timeZone, server } = session;
  const fix = await findRecord(name, session);
  if (output === 'json' || output === 'yaml') io.print(asText(fix, output));
  else if (output === 'name') io.print(nameLine(fix));
  else {
    const nowMs = clock.now();
    const context = { cluster: new URL(server).host, nowMs, timeZone, nameOf: (by: string): string => by };
    const { namespace = '', name: own } = fix.metadata;
    const text = consoleText(composeDetails(fix, [], context), () => undefined, terminal.columns ?? usualColumns);
    const below = [
      `Short id ${shortIdOf(fix)}`,
      ...(isPending(fix, nowMs)
        ? [`tapfix approve ${namespace}/${own}`, `tapfix reject ${namespace}/${own} REASON`]
        : []),
    ];
    io.print([text.trimEnd(), '', ...below].join('\n'));
  }
  return 0;
}
