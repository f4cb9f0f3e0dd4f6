import packageJson from '../../../package.json' with { type: 'json' };
import type { ClusterOptions, Session } from '../cluster-session.ts';
import { deploymentOf, podRoles } from './role-pods.ts';
import { versionIn } from './status.ts';

/** `tapfix version`: of this program, and of what runs in the cluster. */
export async function runVersion(_options: ClusterOptions, session: Session): Promise<number> {
  const { api, io, ownNamespace: namespace } = session;
  io.print(ownVersion());
  const running = await Promise.all(
    podRoles.map(async (role) => {
      const deployment = await api.get({ kind: 'Deployment', namespace, name: deploymentOf(role) });
      return deployment ? `${role.padEnd(12)}${versionIn(deployment)}` : undefined;
    }),
  );
  const found = running.filter((line) => line !== undefined);
  io.print(found.length > 0 ? found.join('\n') : `tapfix is not installed in namespace ${namespace}`);
  return 0;
}

export const ownVersion = (): string => `${'tapfix'.padEnd(12)}version ${packageJson.version}`;
