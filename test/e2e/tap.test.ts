import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, type FaultProxy, joinCluster, type WriteSeen } from '../cluster/cluster.ts';
import { botToken, startFakeTelegram } from '../support/fake-telegram.ts';
import { ada, chatId } from './support/chat.ts';
import {
  applyIn,
  available,
  breakByQuota,
  breakByRollout,
  deployment,
  fixInPhase,
  onlyFix,
} from './support/incidents.ts';
import { createScene } from './support/scene.ts';
import { installResources, type Running, seenHealthy, startProcess } from './support/tapfix.ts';

/**
 * The tap itself: the watcher is killed (SIGKILL) before and after the write that records the approval. The chat is the strict fake, because it delivers an update again until it was confirmed, as Telegram does.
 */
let cluster: Cluster;
let proxy: FaultProxy;
let telegram: Awaited<ReturnType<typeof startFakeTelegram>>;
let watcher: Running;
let kubeconfig: { watcher: string; controller: string };
let controller: Running;

before(async () => {
  cluster = await joinCluster();
  telegram = await startFakeTelegram({ chats: [String(chatId)], pollMs: 1_000 });
  proxy = await cluster.faultProxy();
  await installResources(cluster);
  const of = (account: string) => cluster.serviceAccountKubeconfig('tapfix', account, { server: proxy.url });
  kubeconfig = { watcher: await of('tapfix-watcher'), controller: await of('tapfix-controller') };
  controller = await start('controller');
  watcher = await start('watcher');
});
after(async () => {
  await watcher.kill();
  await controller.kill();
  await proxy.close();
  await telegram.close();
});

const start = (role: 'watcher' | 'controller'): Promise<Running> =>
  startProcess({
    role,
    kubeconfig: kubeconfig[role],
    config: { apiRoot: telegram.apiRoot, include: ['e2e-tap-*'] },
    token: botToken,
  });

const messagesAbout = (namespace: string) => telegram.messages().filter(({ text }) => text.includes(namespace));

interface Incident {
  name: string;
  break(namespace: string): Promise<void>;
  /** The buttons up to the one whose press records the approval. */
  buttons: RegExp[];
  writes: RegExp;
}

const incidents: Incident[] = [
  {
    name: 'undo',
    async break(namespace) {
      await applyIn(cluster, namespace, deployment('checkout', 1, ['run']));
      await available(cluster, namespace, 'checkout');
      await seenHealthy();
      await breakByRollout(cluster, namespace);
    },
    buttons: [/^Roll back/],
    writes: /^tapfix-writer patch deployments$/,
  },
  {
    name: 'quota',
    break: (namespace) => breakByQuota(cluster, namespace),
    buttons: [/^Delete quota/, /^Yes, delete/],
    writes: /^tapfix-writer delete resourcequotas(,tapfix-writer patch replicasets)*$/,
  },
];

const buttonOf = (namespace: string, label: RegExp) =>
  cluster.waitFor(
    `the button ${label}`,
    async () => {
      const [message] = messagesAbout(namespace);
      const button = message?.buttons.find(({ text }) => label.test(text));
      return button && { message: message!.id, data: button.callback_data };
    },
    90_000,
  );

/** Presses one button after the other; the last one's decision is what the proxy waits for. */
async function press(namespace: string, labels: readonly RegExp[]): Promise<void> {
  for (const label of labels) {
    const { message, data } = await buttonOf(namespace, label);
    telegram.press(data, { from: ada, message, chat: String(chatId) });
  }
}

for (const { name, break: breakIt, buttons, writes } of incidents)
  for (const when of ['before', 'after'] as const)
    test(`${name}: killed ${when} the approval was written: approved once, executed once, one message that turns green`, async () => {
      const namespace = await cluster.freshNamespace(`e2e-tap-${name}-${when}`);
      await breakIt(namespace);
      await buttonOf(namespace, buttons[0]!);
      const { metadata } = (await onlyFix(cluster, namespace))!;
      const isApproval = ({ method, path }: WriteSeen): boolean =>
        method === 'PATCH' && path.endsWith(`/namespaces/${namespace}/remediations/${metadata.name}`);
      const held = when === 'before' ? proxy.holdBefore(isApproval) : proxy.holdAfter(isApproval);
      await press(namespace, buttons);
      const stuck = await Promise.race([held, sleep(30_000).then(() => undefined)]);
      assert.ok(stuck, `the approval never came\n${watcher.log().slice(-2000)}`);
      await watcher.kill();
      stuck.drop();
      const { spec } = (await onlyFix(cluster, namespace))!;
      assert.equal(spec.approval.state, when === 'before' ? 'Pending' : 'Approved');
      watcher = await start('watcher');
      // A question asked before a kill is asked again: what nobody remembers, nobody has answered.
      if (when === 'before' && buttons.length > 1) await press(namespace, buttons);
      const fix = await fixInPhase(cluster, namespace, 'Recovered', 120_000);
      assert.equal(fix.spec.approval.by, `telegram:${ada}`);
      assert.match((await createScene(cluster).writes(namespace)).join(), writes);
      await cluster.waitFor('green', async () => messagesAbout(namespace)[0]?.text.startsWith('🟢'), 60_000);
      assert.equal(messagesAbout(namespace).length, 1);
    });
