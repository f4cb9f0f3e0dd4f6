import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Delivery } from '../../../../src/notices/outbox/delivery.ts';
import { createNoticeStatus } from '../../../../src/notices/outbox/notice-status.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { aFix, aNoticeOf } from '../../../support/fixes.ts';
import { silentLog } from '../desk.ts';

test('a state that changed while the one before was being saved is saved as well', async () => {
  const delivery: Delivery = { message: '1', shown: 'a', attempts: 1, saved: false, posting: false };
  const api = { patch: async () => ({}) as never };
  const status = createNoticeStatus({ api, clock: fakeClock(), log: silentLog, namespace: 'tapfix' });
  const saving = status.save(aNoticeOf([aFix()]), delivery);
  delivery.shown = 'b';
  await saving;
  assert.equal(delivery.saved, false);
  await status.save(aNoticeOf([aFix()]), delivery);
  assert.equal(delivery.saved, true);
});
