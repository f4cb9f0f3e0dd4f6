import http from 'node:http';
import https from 'node:https';

/** Whether a component's own health address answers 200. Never rejects: no answer is an answer. */
export function isHealthy(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const client = url.startsWith('https:') ? https : http;
    // The schedulers and managers serve certificates they made themselves; this asks for a status, not for secrets.
    const options = { timeout: 2_000, rejectUnauthorized: false, agent: false };
    const request = client.get(url, options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}
