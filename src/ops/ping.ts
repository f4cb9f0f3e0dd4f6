import { Agent, request } from 'undici';
import packageJson from '../../package.json' with { type: 'json' };

const connectMs = 5_000;

/** One GET without a body. Anything but a 2xx is a no: whoever redirects has something else there. */
export async function ping(url: string, signal: AbortSignal): Promise<void> {
  const agent = new Agent({ allowH2: false, connect: { timeout: connectMs }, keepAliveTimeout: 1 });
  try {
    const { statusCode, body } = await request(url, {
      method: 'GET',
      headers: { 'user-agent': `tapfix/${packageJson.version}`, accept: '*/*' },
      dispatcher: agent,
      signal,
    });
    await body.dump({ limit: 65_536, signal });
    if (statusCode < 200 || statusCode > 299) throw new Error(`answered with HTTP ${statusCode}`);
  } finally {
    await agent.destroy();
  }
}
