import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { allWatches, freePort, startApiServer } from './support/api-server.ts';
import { aSetup, inAHurry, startTapfix, type Tapfix } from './support/tapfix.ts';

/** Standard output and error say that they are a terminal; they still are pipes, so that each can be read. */
const onATerminal = `data:text/javascript,
  for (const stream of [process.stdout, process.stderr]) Object.defineProperty(stream, 'isTTY', {value: true});`;

async function start(t: TestContext, server: string): Promise<Tapfix> {
  const config = { namespaces: { include: ['shop-*', 'payments'] } };
  const { words, env } = await aSetup(t, { server, config });
  return startTapfix(t, words, { env, node: [...(inAHurry.node ?? []), '--import', onATerminal] });
}

const watching = 'watching prod-eu (shop-*, payments) as ada@example.com; Ctrl-C ends it\n';

describe('on a terminal', { concurrency: 2 }, () => {
  test('it says what it watches, and that it stopped', async (t) => {
    const server = await startApiServer(t);
    const tapfix = await start(t, server.url);
    await tapfix.until(
      'start',
      () => tapfix.stdout().includes(watching) && server.watched().length === allWatches.length,
    );
    tapfix.kill('SIGINT');
    const { code, stdout, stderr } = await tapfix.ended();
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: `${watching}stopped\n`, stderr: '' });
  });

  test('trouble is one plain line, and so is its end', async (t) => {
    const port = await freePort();
    const tapfix = await start(t, `http://127.0.0.1:${port}`);
    await tapfix.until('trouble', () => tapfix.stderr().endsWith('\n'));
    const trouble = /^\d\d:\d\d:\d\d not connected to the API server, trying again: [^\n{]*ECONNREFUSED[^\n{]*\n$/;
    assert.match(tapfix.stderr(), trouble);
    await startApiServer(t, { port });
    await tapfix.until('start', () => tapfix.stdout().endsWith(watching));
    assert.match(tapfix.stdout(), /^\d\d:\d\d:\d\d the API server answers\nwatching /);
    assert.match(tapfix.stderr(), trouble);
  });
});
