import type { Clock } from '../../lib/clock.ts';
import { apiVersionOf, type KindRow } from '../kinds/kinds.ts';
import { ApiRefusal, type FieldProblem, invalid, wrong } from './http-refusals.ts';
import { newUid } from './metadata.ts';
import { type ApiAnswer, count, isTree, type Obj, stamp, text, type Tree, tree } from './model.ts';

export interface UserInfo {
  username: string;
  uid?: string;
  groups: readonly string[];
}

interface Issued extends UserInfo {
  expiresAtMs: number;
  isForUs: boolean;
}

interface AccessDeps {
  clock: Clock;
  random: () => number;
  /** The user of a request without a token. */
  identity: UserInfo;
  tokens: Readonly<Record<string, UserInfo>>;
}

export interface Access {
  /** Throws the real server's 401 for an unknown or expired token. */
  whoIs(token: string | undefined): UserInfo;
  /** Answers a TokenRequest. */
  issue(account: Obj, request: Tree): ApiAnswer;
}

const ourAudience = 'https://kubernetes.default.svc';
const shortestSeconds = 600;
const longestSeconds = 2 ** 32;
const subject = { kind: 'TokenRequest', group: 'authentication.k8s.io', name: '' };

/** Knows who sends a request, but not what they may do: here everybody may do everything. */
export function createAccess({ clock, random, identity, tokens }: AccessDeps): Access {
  const issued = new Map<string, Issued>();

  const listed = (token: string): UserInfo | undefined => (Object.hasOwn(tokens, token) ? tokens[token] : undefined);

  function whoIs(token: string | undefined): UserInfo {
    if (token === undefined) return identity;
    const minted = issued.get(token);
    const known = minted && minted.isForUs && clock.now() < minted.expiresAtMs ? minted : listed(token);
    if (!known) throw new ApiRefusal(401, 'Unauthorized', 'Unauthorized');
    return known;
  }

  function issue({ metadata }: Obj, request: Tree): ApiAnswer {
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

const noRules = 'there is no authorization in the simulated API server: everybody may do everything';

/** Answers the review kinds, whose objects are never stored. */
export function review(row: KindRow, body: Tree, who: UserInfo, nowMs: number): ApiAnswer {
  const head = { kind: row.kind, apiVersion: apiVersionOf(row) };
  if (row.kind === 'SelfSubjectReview') {
    const status = { userInfo: { ...who, groups: [...who.groups] } };
    return { status: 201, body: { ...head, metadata: { creationTimestamp: stamp(nowMs) }, status } };
  }
  const spec = tree(body['spec']);
  const problems = [...checkAttributes(spec), ...(row.kind === 'SubjectAccessReview' ? checkSubject(spec) : [])];
  if (problems.length > 0) throw invalid({ kind: '', group: row.group, name: '' }, problems);
  return { status: 201, body: { ...head, metadata: {}, spec, status: { allowed: true, reason: noRules } } };
}

const checkAttributes = ({ resourceAttributes, nonResourceAttributes }: Tree): FieldProblem[] =>
  isTree(resourceAttributes) !== isTree(nonResourceAttributes)
    ? []
    : [
        wrong(
          'spec.resourceAttributes',
          null,
          'exactly one of nonResourceAttributes or resourceAttributes must be specified',
        ),
      ];

const checkSubject = ({ user, groups }: Tree): FieldProblem[] =>
  text(user) || (Array.isArray(groups) && groups.length > 0)
    ? []
    : [wrong('spec.user', '', 'at least one of user or group must be specified')];
