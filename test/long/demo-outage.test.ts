import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tour } from '../../src/demo/acts.ts';
import { runDemo } from '../../src/demo/run-demo.ts';
import { createScreen } from '../../src/demo/screen.ts';
import { openSimStage } from '../../src/demo/sim-stage.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';

const outageMs = 10_000;

const moments: [string, RegExp][] = [
  ['while the shop opens', /The shop opens/],
  ['when the shop is about to be broken', /tapfix sees how the shop does/],
  ['while a fix is being watched', /🔵/u],
];

describe('an API server that goes away for ten seconds in the middle of the demo', { concurrency: 3 }, () => {
  for (const [when, words] of moments)
    test(`${when}: the demo goes on, and nothing wrong is said`, async () => {
      const silent = createLog({ level: 'silent' });
      const stop = new AbortController();
      const stage = await openSimStage(systemClock, silent, stop.signal);
      let said = '';
      const write = (text: string): void => void (said += text);
      const demo = runDemo({
        stage,
        acts: tour,
        clock: systemClock,
        log: silent,
        screen: createScreen({ write, isTTY: false, columns: 80, rows: 50 }),
        keyboard: new PassThrough(),
        pressAfterMs: 1_500,
        timeZone: 'UTC',
        signal: stop.signal,
        stop: () => stop.abort(),
      });
      try {
        while (!words.test(said)) await sleep(20);
        const before = said.length;
        await stage.outage.begin();
        await sleep(outageMs);
        const during = said.slice(before);
        await stage.outage.end();
        assert.equal(await demo, 0, said);
        assert.doesNotMatch(during, /healthy again|after the rollback|gone|ready, watching\n.*ready, watching/);
        const dots = [...said.matchAll(/^(🔴|🟡|🔵|🟢|⚪)/gmu)].map(([dot]) => dot).join('');
        assert.match(dots, /^🔴🟡+🔵+🟢🔴🟡+🔵+🟢$/u, said);
      } finally {
        stop.abort();
        await stage.close(() => undefined);
      }
    });
});
