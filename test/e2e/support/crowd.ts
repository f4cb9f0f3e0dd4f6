import { readFile } from 'node:fs/promises';
import https from 'node:https';
import { text } from 'node:stream/consumers';

interface Kubeconfig {
  clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
}

/** Asks and writes as this user, over so many connections at once that stay open. */
export async function createCrowd(kubeconfig: string, connections: number) {
  const { clusters, users } = JSON.parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig;
  const { cluster } = clusters[0];
  const { user } = users[0];
  const decoded = (data: string): Buffer => Buffer.from(data, 'base64');
  const agent = new https.Agent({
    keepAlive: true,
    maxSockets: connections,
    ca: decoded(cluster['certificate-authority-data']),
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  });
  const send = (method: string, path: string, body: object | undefined, contentType: string) =>
    new Promise<{ code: number; text: string }>((resolve, reject) => {
      const options = { agent, method, headers: { 'content-type': contentType } };
      const request = https.request(new URL(path, cluster.server), options, (response) => {
        text(response).then((answer) => resolve({ code: response.statusCode ?? 0, text: answer }), reject);
      });
      request.on('error', reject);
      request.end(body && JSON.stringify(body));
    });
  const json = 'application/json';
  return {
    /** A merge patch; its status code. */
    patch: async (path: string, body: object): Promise<number> =>
      (await send('PATCH', path, body, 'application/merge-patch+json')).code,
    get: async <T>(path: string): Promise<T> => JSON.parse((await send('GET', path, undefined, json)).text) as T,
    post: async <T>(path: string, body: object): Promise<T> =>
      JSON.parse((await send('POST', path, body, json)).text) as T,
    close: () => agent.destroy(),
  };
}
