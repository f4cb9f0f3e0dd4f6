import type { Clock } from '../../lib/clock.ts';
import { type Answer, count, type Obj, stamp, text, type Tree, tree } from './model.ts';
import { newUid } from './names.ts';
import { invalid, Refusal, wrong } from './refusal.ts';

export interface Identity {
  username: string;
  uid?: string;
  groups: readonly string[];
}

interface Issued extends Identity {
  expiresAtMs: number;
  isForUs: boolean;
}

export interface AccessDeps {
  clock: Clock;
  random: () => number;
  /** Who is who does not bring a token. */
  identity: Identity;
  tokens: Readonly<Record<string, Identity>>;
}

export interface Access {
  /** Throws the 401 of the real one. */
  whoIs(token: string | undefined): Identity;
  /** Answers a TokenRequest. */
  issue(account: Obj, request: Tree): Answer;
}

const ourAudience = 'https://kubernetes.default.svc';
const shortestSeconds = 600;
const longestSeconds = 2 ** 32;
const subject = { kind: 'TokenRequest', group: 'authentication.k8s.io', name: '' };

/** Knows who asks. What they may do it does not know: here everybody may do everything. */
export function createAccess({ clock, random, identity, tokens }: AccessDeps): Access {
  const issued = new Map<string, Issued>();

  const listed = (token: string): Identity | undefined => (Object.hasOwn(tokens, token) ? tokens[token] : undefined);

  function whoIs(token: string | undefined): Identity {
    if (token === undefined) return identity;
    const minted = issued.get(token);
    const known = minted && minted.isForUs && clock.now() < minted.expiresAtMs ? minted : listed(token);
    if (!known) throw new Refusal(401, 'Unauthorized', 'Unauthorized');
    return known;
  }

  function issue({ metadata }: Obj, request: Tree): Answer {
    const { expirationSeconds = 3600, audiences } = tree(request['spec']);
    const seconds = count(expirationSeconds, Number.NaN);
    const field = 'spec.expirationSeconds';
    if (!(seconds >= shortestSeconds))
      throw invalid(subject, [wrong(field, expirationSeconds, 'may not specify a duration less than 10 minutes')]);
    if (seconds > longestSeconds)
      throw invalid(subject, [wrong(field, seconds, 'may not specify a duration larger than 2^32 seconds')]);
    const asked = Array.isArray(audiences) && audiences.length > 0 ? audiences.map(text) : [ourAudience];
    const { name, namespace = '', uid } = metadata;
    const expiresAtMs = clock.now() + seconds * 1000;
    const token = `sim.${newUid(random)}${newUid(random)}`;
    issued.set(token, {
      username: `system:serviceaccount:${namespace}:${name}`,
      uid,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      expiresAtMs,
      isForUs: asked.includes(ourAudience),
    });
    const status = { token, expirationTimestamp: stamp(expiresAtMs) };
    const spec = { audiences: asked, expirationSeconds: seconds, boundObjectRef: null };
    const about = { name, namespace, creationTimestamp: stamp(clock.now()) };
    return {
      status: 201,
      body: { kind: subject.kind, apiVersion: `${subject.group}/v1`, metadata: about, spec, status },
    };
  }

  return { whoIs, issue };
}
