import { Agent, request } from 'undici';
import type { RawAnswer, RawCall, Server } from './ground.ts';

/** How the raw requests of a suite reach the server: as itself, or with a token and nothing else. */
export interface Reach {
  url: string;
  own?: ConstructorParameters<typeof Agent>[0];
  bare?: ConstructorParameters<typeof Agent>[0];
}

/** One request as it is written. */
export function rawOver({ url, own = {}, bare = {} }: Reach): Pick<Server, 'raw' | 'close'> {
  const agents = { own: new Agent(own), bare: new Agent(bare) };
  async function raw(method: string, path: string, { body, contentType, token }: RawCall = {}): Promise<RawAnswer> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await request(`${url}${path}`, {
      dispatcher: token ? agents.bare : agents.own,
      method: method as 'GET',
      headers: {
        ...(text !== undefined && { 'content-type': contentType ?? 'application/json' }),
        ...(token && { authorization: `Bearer ${token}` }),
      },
      body: text ?? null,
    });
    const said = await answer.body.text();
    return { status: answer.statusCode, text: said, body: parsed(said) };
  }
  const close = async (): Promise<void> => {
    await Promise.all([agents.own.destroy(), agents.bare.destroy()]);
  };
  return { raw, close };
}

function parsed(text: string): RawAnswer['body'] {
  try {
    return JSON.parse(text) as RawAnswer['body'];
  } catch {
    return {} as RawAnswer['body'];
  }
}
