import { hasCode, isForbidden } from '../../kube/api.ts';
import { messageOf, UserError } from '../../lib/errors.ts';
import { scrub } from '../../lib/log.ts';
import type { ClusterOptions, Session } from '../cluster-session.ts';
import { leaderOf, mustBeInstalled, type PodRole, readRole, readyPod, type RoleFacts, whyNone } from './role-pods.ts';

export interface RoleLogsOptions extends ClusterOptions {
  role: PodRole;
  follow: boolean;
  /** The last so many lines. */
  tail: number;
}

/** `tapfix logs`: the log of the replica that leads. */
export async function runRoleLogs({ role, follow, tail }: RoleLogsOptions, session: Session): Promise<number> {
  const { api, io, ownNamespace: namespace, clock, streams } = session;
  const facts = await readRole(api, namespace, role);
  mustBeInstalled(facts, namespace);
  const pod = podToRead(facts);
  if (pod === undefined) throw new UserError(`there is no log: ${whyNone(facts, clock.now()).why}`);
  if (pod !== leaderOf(facts)) io.complain(`nobody leads; this is the log of ${pod}`);
  try {
    const query = { container: 'tapfix', tailLines: tail, follow };
    for await (const line of streams.log({ namespace, name: pod }, query, io.stopSignal())) io.print(scrub(line));
  } catch (error) {
    if (isForbidden(error))
      throw new UserError(`you may not read logs in namespace ${namespace}: ${messageOf(error)}`, 1, error);
    if (!hasCode(error, 400)) throw error;
    throw new UserError(`there is no log yet: ${whyNone(facts, clock.now()).why}`, 1, error);
  }
  return 0;
}

/** Pure. The leader's pod if it is there, whatever state it is in; or else one that is ready; or else any. */
export function podToRead(facts: RoleFacts): string | undefined {
  const leader = leaderOf(facts);
  const names = facts.pods.map(({ metadata }) => metadata.name);
  return names.find((name) => name === leader) ?? readyPod(facts)?.metadata.name ?? names[0];
}
