import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { UserError } from '../../src/lib/errors.ts';

export const howToGetThem =
  'apt-get install -y --no-install-recommends chromium fonts-inter fonts-dejavu-core fonts-noto-color-emoji';
const programs = ['chromium', 'chromium-browser', 'google-chrome'];

function findChromium(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = programs
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((file) => existsSync(file));
  if (!found) throw new UserError(`Chromium is missing, which takes the pictures; on Debian: ${howToGetThem}`);
  return found;
}

type Send = (method: string, params?: object) => Promise<Record<string, unknown>>;

export interface Browser {
  /** A PNG of the page's <main>, two pixels to a point, and the fonts that its text came out in. */
  picture(html: string): Promise<{ png: Buffer; fonts: string[] }>;
  close(): Promise<void>;
}

/** Speaks the DevTools protocol over a pipe: no port is opened. https://chromedevtools.github.io/devtools-protocol/ */
export async function startBrowser(): Promise<Browser> {
  const program = findChromium();
  const home = mkdtempSync(join(tmpdir(), 'tapfix-pictures-'));
  const flags = ['--headless', '--remote-debugging-pipe', '--hide-scrollbars', `--user-data-dir=${home}`];
  // Its sandbox does not work for root; it is shown nothing but our own page.
  if (process.getuid?.() === 0) flags.push('--no-sandbox');
  const child = spawn(program, flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const send = speak(child.stdio[3] as Writable, child.stdio[4] as Readable, ended);
  const { targetId } = await send('', 'Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await send('', 'Target.attachToTarget', { targetId, flatten: true });
  const inPage: Send = (method, params) => send(String(sessionId), method, params);
  for (const domain of ['Page', 'DOM', 'CSS']) await inPage(`${domain}.enable`);
  return {
    picture: (html) => takePicture(inPage, html),
    async close() {
      await send('', 'Browser.close');
      await ended;
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function speak(requests: Writable, answers: Readable, ended: Promise<void>) {
  const waiting = new Map<number, { resolve(result: Record<string, unknown>): void; reject(error: Error): void }>();
  let last = 0;
  let text = '';
  answers.setEncoding('utf8').on('data', (piece: string) => {
    const messages = (text + piece).split('\0');
    text = messages.pop()!;
    for (const { id, result, error } of messages.map((message) => JSON.parse(message))) {
      if (error) waiting.get(id)?.reject(new Error(`Chromium: ${error.message}`));
      else waiting.get(id)?.resolve(result);
    }
  });
  void ended.then(() => waiting.forEach(({ reject }) => reject(new Error('Chromium ended'))));
  return (sessionId: string, method: string, params: object = {}): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      requests.write(`${JSON.stringify({ id: last, method, params, ...(sessionId && { sessionId }) })}\0`);
    });
}

const measure = `document.fonts.ready.then(() => {
  const { x, y, width, height } = document.querySelector('main').getBoundingClientRect();
  return { x, y, width: Math.ceil(width), height: Math.ceil(height) };
})`;

async function takePicture(send: Send, html: string): Promise<{ png: Buffer; fonts: string[] }> {
  await send('Emulation.setDeviceMetricsOverride', { width: 1200, height: 900, deviceScaleFactor: 2, mobile: false });
  await send('Emulation.setDefaultBackgroundColorOverride', { color: { r: 0, g: 0, b: 0, a: 0 } });
  const { frameTree } = (await send('Page.getFrameTree')) as { frameTree: { frame: { id: string } } };
  await send('Page.setDocumentContent', { frameId: frameTree.frame.id, html });
  const { result } = (await send('Runtime.evaluate', {
    expression: measure,
    awaitPromise: true,
    returnByValue: true,
  })) as { result: { value: object } };
  const clip = { ...result.value, scale: 1 };
  const { data } = await send('Page.captureScreenshot', { format: 'png', clip, captureBeyondViewport: true });
  return { png: Buffer.from(String(data), 'base64'), fonts: await fontsOf(send) };
}

/** A missing font is replaced in silence; this asks which were really used. */
async function fontsOf(send: Send): Promise<string[]> {
  const { root } = (await send('DOM.getDocument')) as { root: { nodeId: number } };
  const { nodeIds } = await send('DOM.querySelectorAll', { nodeId: root.nodeId, selector: 'main, main *' });
  const used = new Set<string>();
  for (const nodeId of nodeIds as number[]) {
    const { fonts } = await send('CSS.getPlatformFontsForNode', { nodeId });
    for (const { familyName } of fonts as { familyName: string }[]) used.add(familyName);
  }
  return [...used].sort();
}
