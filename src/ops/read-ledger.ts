import { Agent, request } from 'undici';

/** Nobody waits long for a port that nobody forwards. */
const patienceMs = 3_000;
const longestPage = 1_000_000;

export interface LedgerQuestion {
  namespace: string;
  kind: string;
  name: string;
}

/** What a running watcher's books say of one workload, as JSON. Throws when nobody answers, or something else does. */
export async function readLedger(base: string, question: LedgerQuestion): Promise<unknown> {
  const agent = new Agent({
    allowH2: false,
    connect: { timeout: patienceMs },
    headersTimeout: patienceMs,
    bodyTimeout: patienceMs,
    maxResponseSize: longestPage,
  });
  try {
    const url = new URL('/ledger', base);
    for (const [field, value] of Object.entries(question)) url.searchParams.set(field, value);
    const { statusCode, body } = await request(url, { dispatcher: agent });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`answered with HTTP ${statusCode}`);
    return JSON.parse(text) as unknown;
  } finally {
    await agent.destroy();
  }
}
