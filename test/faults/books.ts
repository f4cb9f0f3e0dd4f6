import type { Notice } from '../../src/kube/notice.ts';
import { isCleared, phaseOf, type Remediation } from '../../src/kube/remediation.ts';

/** The vendor took a message. */
export interface Post {
  /** The Notice's name. */
  notice: string;
  form: Notice['spec']['form'];
  /** Which life of which process posted it. */
  by: string;
  /** Its Notice said already that it had been posted. */
  known: boolean;
  /** Its answer never reached who posted it: that process was killed first, or the answer was lost. */
  unheard: boolean;
}
/** A real change, made with minted rights. */
export interface Execution {
  /** The uid of the Remediation whose mark it bears; a deletion bears none. */
  fix?: string | undefined;
  namespace: string;
  name: string;
  what: string;
}
export interface Incident {
  key: string;
  decision: 'approve' | 'reject' | 'nobody';
}
export interface Books {
  incidents: readonly Incident[];
  fixes: readonly Remediation[];
  notices: readonly Notice[];
  posts: readonly Post[];
  executions: readonly Execution[];
  bindings: readonly string[];
  /** What else was found wrong while it ran. */
  wrong: readonly string[];
}

/** Forms of a message that is about incidents. */
export const aboutIncidents: readonly string[] = ['card', 'storm', 'boot'];

/** Pure. Everything that does not balance, in words; nothing: the books balance. */
export function faultsIn(books: Books): string[] {
  return [
    ...books.wrong,
    ...books.incidents.flatMap((incident) => ofIncident(incident, books)),
    ...strangers(books),
    ...repeats(books.posts),
    ...ofExecutions(books),
    ...books.bindings.map((name) => `the RoleBinding ${name} is left`),
  ];
}

function ofIncident({ key }: Incident, { fixes, notices, posts }: Books): string[] {
  const chain = fixes.filter(({ spec }) => spec.incident.key === key);
  const first = chain.filter(({ spec }) => !spec.follows);
  if (first.length !== 1) return [`${key} has ${first.length} Remediations that begin an episode (${names(chain)})`];
  const uids = new Set(chain.map(({ metadata }) => metadata.uid));
  const holding = notices.filter(
    ({ spec }) => aboutIncidents.includes(spec.form) && spec.members.some(({ uid }) => uids.has(uid)),
  );
  if (holding.length !== 1) return [`${key} is in ${holding.length} messages`];
  const [{ metadata, status }] = holding as [Notice];
  const wrong: string[] = [];
  if (!status?.message) wrong.push(`${key}: its message was never posted`);
  if (!posts.some(({ notice }) => notice === metadata.name)) wrong.push(`${key}: the vendor never got its message`);
  const last = chain.at(-1)!;
  if (!isCleared(last)) wrong.push(`${key} is healthy again, and still open (${phaseOf(last)})`);
  return wrong;
}

/** Records of what nobody broke. */
const strangers = ({ incidents, fixes }: Books): string[] =>
  fixes
    .filter(({ spec }) => !incidents.some(({ key }) => key === spec.incident.key))
    .map(({ metadata, spec }) => `nobody broke ${spec.incident.key}, of which ${metadata.name} tells`);

/** A message may come again only if nobody heard that it had been posted. */
function repeats(posts: readonly Post[]): string[] {
  const last = new Map<string, Post>();
  return posts.flatMap((post) => {
    const before = last.get(post.notice);
    last.set(post.notice, post);
    if (!before) return [];
    if (post.known) return [`${post.notice} was posted again by ${post.by}, though its Notice says that it was posted`];
    return before.unheard ? [] : [`${post.notice} was posted by ${before.by} and again by ${post.by}`];
  });
}

/** A deletion bears no mark, so it belongs to an approved Remediation of the same target. */
const isOf = ({ fix, namespace, name }: Execution, { metadata, spec }: Remediation): boolean => {
  if (fix) return metadata.uid === fix;
  const params = Object.values(spec.action ?? {}).find((value) => typeof value === 'object') as
    { name?: string } | undefined;
  return metadata.namespace === namespace && params?.name === name && spec.approval.state === 'Approved';
};

function ofExecutions({ fixes, executions }: Books): string[] {
  const wrong = executions
    .filter((execution) => !fixes.some((fix) => isOf(execution, fix) && fix.spec.approval.state === 'Approved'))
    .map(({ what }) => `nobody approved ${what}`);
  const twice = fixes.flatMap((fix) => {
    const done = executions.filter((execution) => isOf(execution, fix));
    return done.length > 1 ? [`${fix.metadata.name} was executed ${done.length} times`] : [];
  });
  return [...wrong, ...twice];
}

const names = (fixes: readonly Remediation[]): string =>
  fixes.map((fix) => `${fix.metadata.name} ${phaseOf(fix)}`).join(', ') || 'none';

/** The books, to be read beside a failure. */
export function bookLines({ incidents, fixes, notices, posts, executions, bindings }: Books): string[] {
  return [
    ...incidents.map(({ key, decision }) => {
      const chain = fixes.filter(({ spec }) => spec.incident.key === key);
      return `incident ${key} (${decision}): ${names(chain)}`;
    }),
    ...notices.map(({ metadata, spec, status }) => {
      const times = posts.filter(({ notice }) => notice === metadata.name).length;
      const members = spec.members.map(({ name }) => name).join(', ');
      return `message ${metadata.name} (${spec.form}) of ${members || 'tapfix itself'}: ${status?.message ?? 'not recorded'}, posted ${times} times`;
    }),
    ...executions.map(({ fix, what }) => `execution${fix ? ` of ${fix}` : ''}: ${what}`),
    ...bindings.map((name) => `RoleBinding ${name}`),
  ];
}
