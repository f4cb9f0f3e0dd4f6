import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { type Chat, startChat } from './support/chat.ts';
import {
  applyIn,
  available,
  breakByQuota,
  breakByRollout,
  deployment,
  fixInPhase,
  onlyFix,
} from './support/incidents.ts';
import { type Line, startLine } from './support/line.ts';
import { createScene, type Scene } from './support/scene.ts';
import {
  type LocalSlack,
  slackAda,
  slackMallory,
  slackTokens,
  startLocalSlack,
  type SlackMessage,
} from './support/slack.ts';
import { installTapfix, removeDeployments, seenHealthy } from './support/tapfix.ts';

/** Pods of deploy/manifests on the real node; Telegram and Slack at the same time, by stand-ins that nobody here wrote. */
let cluster: Cluster;
let chat: Chat;
let slack: LocalSlack;
let line: Line;
let scene: Scene;

before(async () => {
  cluster = await joinCluster();
  chat = await startChat(cluster.nodeAddress);
  slack = await startLocalSlack(cluster.nodeAddress);
  line = await startLine(cluster.nodeAddress, chat.apiRoot);
  scene = createScene(cluster, chat);
  await installTapfix(cluster, { apiRoot: line.url, slackApi: slack.apiUrl, include: ['e2e-slack-*'] });
});
after(async () => {
  await removeDeployments(cluster);
  await line.close();
  await slack.close();
  await chat.close();
});

const about = async (namespace: string): Promise<SlackMessage[]> =>
  (await slack.messages()).filter(({ text }) => text.includes(namespace));
const inSlack = (namespace: string, words: RegExp, timeoutMs = 60_000): Promise<SlackMessage> =>
  cluster.waitFor(
    `a Slack message about ${namespace} with ${words}`,
    async () => (await about(namespace)).find(({ text }) => words.test(text)),
    timeoutMs,
  );
const show = ({ text }: SlackMessage): void => console.log(text.replace(/^/gm, '    '));

async function breakACheckout(name: string): Promise<string> {
  const namespace = await cluster.freshNamespace(`e2e-slack-${name}`);
  await applyIn(cluster, namespace, deployment('checkout', 1, ['run']));
  await available(cluster, namespace, 'checkout');
  await seenHealthy();
  await breakByRollout(cluster, namespace);
  return namespace;
}

describe('a rollout that crashes, in both chats', () => {
  let namespace: string;

  test('becomes one card in each', async () => {
    namespace = await breakACheckout('crash');
    const card = await inSlack(namespace, /\[ Roll back to /, 90_000);
    assert.match(card.text, /^🔴 checkout (?:is (?:down|degraded)|keeps crashing)/u);
    show(card);
    await scene.withButton(namespace, /Roll back/);
  });

  test('is not decided by a stranger, who alone is told so', async () => {
    await slack.press(await inSlack(namespace, /Roll back/), /Roll back/, slackMallory);
    const told = await cluster.waitFor('the refusal', async () => (await slack.whispers(slackMallory))[0], 15_000);
    assert.equal(told, `You are not on the approvers' list for ${namespace} (your id is ${slackMallory}).`);
    assert.deepEqual(await slack.whispers(slackAda), []);
    assert.equal((await onlyFix(cluster, namespace))?.spec.approval.state, 'Pending');
  });

  test('is undone after a tap in Slack; both messages say by whom and turn green', async () => {
    const pressedAtMs = Date.now();
    await slack.press(await inSlack(namespace, /Roll back/), /Roll back/);
    const fix = await fixInPhase(cluster, namespace, 'Recovered', 90_000);
    assert.equal(fix.spec.approval.by, `slack:${slackAda}`);
    assert.ok(Date.parse(fix.spec.approval.at!) - pressedAtMs < 3_000, 'recorded while the presser waits');
    const green = await inSlack(namespace, /^🟢 checkout is healthy again/);
    show(green);
    assert.deepEqual(green.buttons, []);
    assert.match(green.text, /approved by Ada \(Slack\)/);
    assert.match((await scene.messageAbout(namespace, /🟢/)).text, /approved by Ada \(Slack\)/);
    assert.equal((await about(namespace)).length, 1);
    assert.equal(scene.about(namespace).length, 1);
    assert.equal((await slack.whispers(slackMallory)).length, 1, 'the stand-in sends each press over both sockets');
    assert.deepEqual(await scene.writes(namespace), ['tapfix-writer patch deployments']);
  });
});

test('a quota is deleted after a second tap in Slack; nobody is asked in Telegram meanwhile', async () => {
  const namespace = await cluster.freshNamespace('e2e-slack-quota');
  await breakByQuota(cluster, namespace);
  await scene.withButton(namespace, /^Delete quota/);
  await slack.press(await inSlack(namespace, /Delete quota/), /Delete quota/);
  const asked = await inSlack(namespace, /\[ Yes, delete platform-hardening \]/);
  await sleep(3_000); // an edit in Telegram would have come by then
  const labels = scene.about(namespace).flatMap(({ buttons }) => buttons.map(({ text }) => text));
  assert.deepEqual(
    labels.filter((label) => /^(Delete quota|Yes)/.test(label)),
    ['Delete quota'],
  );
  assert.equal((await onlyFix(cluster, namespace))?.spec.approval.state, 'Pending');
  await slack.press(asked, /^Yes, delete/);
  await fixInPhase(cluster, namespace, 'Recovered', 150_000);
  await inSlack(namespace, /^🟢/);
  await scene.messageAbout(namespace, /🟢/);
});

test('a decision in Telegram is shown in Slack', async () => {
  const namespace = await cluster.freshNamespace('e2e-slack-other');
  await breakByQuota(cluster, namespace);
  await inSlack(namespace, /Reject/);
  await chat.press(await scene.withButton(namespace, /Reject/), /Reject/);
  const rejected = await inSlack(namespace, /^🔴 .*still.*Rejected by Ada/u);
  assert.ok(!rejected.buttons.some(({ text }) => /Delete|Reject/.test(text)), 'it is decided');
});

test('Telegram does not answer: Slack is told, asked and answered as ever; afterwards Telegram has it, once', async () => {
  line.goDead();
  const namespace = await cluster.freshNamespace('e2e-slack-alone');
  try {
    await breakByQuota(cluster, namespace);
    const fix = await fixInPhase(cluster, namespace, 'Proposed', 60_000);
    await inSlack(namespace, /Delete quota/);
    console.log(
      `  in Slack ${((Date.now() - Date.parse(fix.metadata.creationTimestamp!)) / 1000).toFixed(0)} s after it was proposed`,
    );
    assert.equal(scene.about(namespace).length, 0, 'Telegram was to be away');
    await slack.press(await inSlack(namespace, /Delete quota/), /Delete quota/);
    await slack.press(await inSlack(namespace, /Yes, delete/), /^Yes, delete/);
    await fixInPhase(cluster, namespace, 'Recovered', 150_000);
    await inSlack(namespace, /^🟢/, 30_000); // a call to Telegram that is not answered takes 45 s
  } finally {
    line.comeBack();
  }
  await scene.messageAbout(namespace, /🟢/, 120_000);
  assert.equal(scene.about(namespace).length, 1);
});

test('Slack does not answer: Telegram has the card in time; afterwards Slack has it, once', async () => {
  slack.freeze();
  const namespace = await cluster.freshNamespace('e2e-slack-frozen');
  try {
    await breakByQuota(cluster, namespace);
    const fix = await fixInPhase(cluster, namespace, 'Proposed', 60_000);
    await scene.withButton(namespace, /Delete quota/, 30_000);
    console.log(
      `  in Telegram ${((Date.now() - Date.parse(fix.metadata.creationTimestamp!)) / 1000).toFixed(0)} s after it was proposed`,
    );
  } finally {
    slack.thaw();
  }
  await inSlack(namespace, /Delete quota/, 60_000);
  const isDecided = async (): Promise<boolean> =>
    (await onlyFix(cluster, namespace))?.spec.approval.state === 'Rejected';
  // Slack tells who presses before a socket is open again; a person then presses once more.
  const pressed = async (): Promise<boolean> => {
    if (await isDecided()) return true;
    await slack.press(await inSlack(namespace, /Reject/), /Reject/);
    await sleep(2_000);
    return isDecided();
  };
  await cluster.waitFor('the decision', pressed, 60_000);
  await inSlack(namespace, /Rejected by Ada/);
  assert.equal((await about(namespace)).length, 1);
});

test('no secret stands in the log', async () => {
  const log = await cluster.kubectl(['-n', 'tapfix', 'logs', 'deploy/tapfix-watcher']);
  assert.match(log, /"decision":"Approved".*"channel":"slack"/);
  for (const token of Object.values(slackTokens)) assert.ok(!log.includes(token));
});
