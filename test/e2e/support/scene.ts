import type { AuditEvent, Cluster } from '../../cluster/cluster.ts';
import type { Chat, ChatMessage } from './chat.ts';

export const account = (name: string): string => `system:serviceaccount:tapfix:${name}`;

const accounts = ['tapfix-writer', 'tapfix-watcher', 'tapfix-controller'].map(account);
const ownResources = ['remediations', 'notices', 'events', 'rolebindings', 'subjectaccessreviews', 'selfsubjectreviews', 'serviceaccounts']; // prettier-ignore
const isRealWrite = ({ verb, dryRun, code }: AuditEvent): boolean =>
  ['create', 'update', 'patch', 'delete', 'deletecollection'].includes(verb) && !dryRun && code < 300;

/** What a test looks at: the chat (if it is the usual one) and the audit log, by namespace. */
export function createScene(cluster: Cluster, chat?: Pick<Chat, 'messages'>) {
  const about = (namespace: string): ChatMessage[] =>
    (chat?.messages() ?? []).filter(({ text }) => text.includes(namespace) && !text.startsWith('👋'));
  return {
    about,
    messageAbout: (namespace: string, words: RegExp, timeoutMs = 60_000): Promise<ChatMessage> =>
      cluster.waitFor(
        `a message about ${namespace} with ${words}`,
        async () => {
          const [message] = about(namespace);
          return message && words.test(message.text) ? message : undefined;
        },
        timeoutMs,
      ),
    withButton: (namespace: string, label: RegExp, timeoutMs = 60_000): Promise<ChatMessage> =>
      cluster.waitFor(
        `a button ${label}`,
        async () => about(namespace).find(({ buttons }) => buttons.some(({ text }) => label.test(text))),
        timeoutMs,
      ),
    /** Real writes of tapfix's three accounts to anything but its own resources. */
    async writes(namespace: string): Promise<string[]> {
      const events = (await cluster.audit()).filter(
        (event) => isRealWrite(event) && accounts.includes(event.user) && event.namespace === namespace,
      );
      return events
        .filter(({ resource }) => !ownResources.includes(resource))
        .map(({ user, verb, resource }) => `${user.split(':').pop()} ${verb} ${resource}`);
    },
    /** What is on the phone, for whoever reads the log of this run. */
    show: ({ text, buttons }: ChatMessage): void =>
      console.log(`${text}\n${buttons.map((button) => `[ ${button.text} ]`).join(' ')}`.replace(/^/gm, '    ')),
    bindings: (namespace: string): Promise<string[]> => mintedBindings(cluster, namespace),
    async scaleWatcher(replicas: number): Promise<void> {
      await cluster.kubectl(['-n', 'tapfix', 'scale', 'deploy/tapfix-watcher', `--replicas=${replicas}`]);
      const isThere = async (): Promise<boolean> => {
        const pods = await cluster.list<{ metadata: { name: string } }>('pods', 'tapfix');
        return pods.filter(({ metadata }) => metadata.name.startsWith('tapfix-watcher')).length === replicas;
      };
      await cluster.waitFor(`${replicas} watchers`, isThere, 60_000);
    },
  };
}
export type Scene = ReturnType<typeof createScene>;

/** Rights that tapfix minted and that are still there. */
export async function mintedBindings(cluster: Cluster, namespace: string): Promise<string[]> {
  const all = await cluster.list<{ metadata: { name: string } }>('rolebindings', namespace);
  return all.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('tapfix-'));
}
