import { canBeNudged, inBatches, nudge, stillShort } from '../actions/nudge.ts';
import type { Reader } from '../kube/api.ts';
import { levelOf } from '../kube/outage.ts';
import type { Blocked } from '../kube/remediation.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { hasMoved } from './send.ts';
import { type Hand } from '../actions/perform.ts';

const pausesMs = [1000, 1000, 2000, 2000];

export interface NudgeDeps {
  hand: Hand;
  reader: Reader;
  clock: Clock;
  log: Log;
}

export interface NudgeWork {
  namespace: string;
  fixUid: string;
  blocked: readonly Blocked[];
}

/** Makes blocked owners retry until their pods appear, at most 5 times. It is fine if an owner is gone. */
export async function nudgeUntilPodsAppear({ hand, reader, clock, log }: NudgeDeps, work: NudgeWork): Promise<void> {
  const { namespace, fixUid } = work;
  let waiting = await stillShort(reader, namespace, work.blocked);
  for (let round = 1; waiting.length > 0; round++) {
    await inBatches(waiting, async (owner) => {
      try {
        await nudge(hand, namespace, owner, `${fixUid}-${round}`);
      } catch (error) {
        if (!hasMoved(error)) log[levelOf(error)]({ namespace, ...owner, error: messageOf(error) }, 'nudge failed');
      }
    });
    const pauseMs = pausesMs[round - 1];
    if (pauseMs === undefined) return;
    await clock.sleep(pauseMs);
    waiting = await stillShort(reader, namespace, waiting);
  }
}

/** The same requests as a dry run. Owners come and go; any other refusal refuses the whole fix. */
export async function rehearseNudges(hand: Hand, { namespace, fixUid, blocked }: NudgeWork): Promise<void> {
  await inBatches(blocked.filter(canBeNudged), async (owner) => {
    try {
      await nudge(hand, namespace, owner, `${fixUid}-1`, true);
    } catch (error) {
      if (!hasMoved(error)) throw error;
    }
  });
}
