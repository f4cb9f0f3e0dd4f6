import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createController } from '../../src/controller/controller.ts';
import { writerAccount } from '../../src/controller/rights.ts';
import { readHealth } from '../../src/diagnosis/health.ts';
import type { Remediation } from '../../src/kube/remediation.ts';
import { composeMessage } from '../../src/notices/cards/compose.ts';
import { derive } from '../../src/proposals/derive.ts';
import { classOf } from '../../src/signals/classes.ts';
import { aStreet, blockedByQuota, comeUp, crashLoop, failedCreate, podSignal, type Process, type Street, unblock } from '../support/street.ts';
import { aChat, aConfig } from '../support/config.ts';
import { compareWords } from './compare.ts';
import { aContext } from './scenes.ts';

/** The other golden files begin with a Remediation written by hand; these begin with a broken cluster. */
const ada = { name: 'Ada', telegram: 123456789, kubernetesGroups: [] };
const silent = { debug() {}, info() {}, warn() {}, error() {} };

function startController({ server, clock, config, fixes }: Street, { history }: Process) {
  server.seed('ServiceAccount', 'tapfix', { metadata: { name: writerAccount } });
  const api = server.client();
  const deps = { api, clock, log: silent, current: () => config, namespace: 'tapfix', history, readHealth, derive };
  const patienceMs = (failureClass: string): number => classOf(failureClass, config).forMs;
  const controller = createController({ ...deps, patienceMs, isOurs: () => true });
  const tell = (): void => controller.onFixes(structuredClone(fixes()));
  tell();
  void controller.run(new AbortController().signal);
  return { tell };
}

function onlyOne(street: Street): Remediation {
  const fixes = street.fixes();
  assert.equal(fixes.length, 1);
  return fixes[0]!;
}

const compare = (name: string, street: Street): void =>
  compareWords(
    `street ${name}`,
    composeMessage([onlyOne(street)], aContext({ nowMs: street.clock.now(), confirm: [] })),
  );

/** As chat records it; then the controller hears of it. */
async function approve(street: Street, controller: { tell(): void }): Promise<void> {
  const approval = {
    state: 'Approved',
    by: 'telegram:123456789',
    at: new Date(street.clock.now()).toISOString(),
    via: 'telegram',
  };
  street.server.change('Remediation', 'shop', onlyOne(street).metadata.name, { spec: { approval } });
  controller.tell();
  await street.advance(10_000);
}

async function crashing(isGoodOneKnown: boolean) {
  const street = aStreet({ channels: aChat, approval: { ...aConfig().approval, approvers: [ada] } });
  const { goodRevision } = crashLoop(street);
  const process = street.start();
  const view = { uid: goodRevision, desired: 1, available: 1 } as never;
  if (isGoodOneKnown) process.history.observe(view, street.clock.now() - 6 * 86_400_000);
  process.onSignal(podSignal(street));
  await street.advance(31_000);
  const controller = startController(street, process);
  await street.advance(3_000);
  return { street, controller };
}

test('from a crashing revision to the card that offers the undo, to green', async () => {
  const { street, controller } = await crashing(true);
  compare('crash proposed', street);
  await approve(street, controller);
  compare('crash applied', street);
  comeUp(street, 0);
  await street.advance(61_000);
  compare('crash recovered', street);
});

test('from a crashing revision to the card that offers nothing', async () => {
  const { street } = await crashing(false);
  compare('crash noticed', street);
});

test('from a quota to the card that offers its deletion, to green', async () => {
  const street = aStreet({ channels: aChat, approval: { ...aConfig().approval, approvers: [ada] } });
  blockedByQuota(street, ['api', 'web']);
  const process = street.start();
  for (const name of ['api', 'web']) process.onSignal(failedCreate(street, name));
  await street.advance(11_000);
  const controller = startController(street, process);
  await street.advance(3_000);
  compare('quota proposed', street);
  await approve(street, controller);
  compare('quota applied', street);
  for (const name of ['api', 'web']) unblock(street, name);
  await street.advance(61_000);
  compare('quota recovered', street);
});
