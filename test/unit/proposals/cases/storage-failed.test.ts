import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout } from '../../../support/rollout.ts';

const claims: { name: string; claim: object; events?: [string, string][]; want: string }[] = [
  { name: 'its provisioner', claim: { spec: { storageClassName: 'gp3' }, status: { phase: 'Pending' } }, events: [['ProvisioningFailed', 'failed to provision volume with StorageClass "gp3": rpc error: code = X desc = full']], want: 'StorageClass gp3 makes no volume: full' },
  { name: 'its phase', claim: { status: { phase: 'Lost' } }, want: 'the volume it was bound to is gone' },
  { name: 'what it does not name', claim: { status: { phase: 'Pending' } }, want: 'it names no StorageClass, and no volume fits it' },
  { name: 'nobody', claim: { spec: { storageClassName: 'gp3' }, status: { phase: 'Pending' } }, want: 'the claim has no volume, and nobody says why' },
]; // prettier-ignore
for (const { name, claim, events = [], want } of claims)
  test(`a claim without a volume, by ${name}: ${want}`, async () => {
    const { server, ask } = aRollout();
    const { uid } = server.seed('PersistentVolumeClaim', 'shop', { metadata: { name: 'data' }, ...claim }).metadata;
    for (const [reason, message] of events)
      server.seed('Event', 'shop', {
        metadata: { name: 'e' },
        reason,
        message,
        involvedObject: { kind: 'PersistentVolumeClaim', name: 'data', uid },
      });
    assert.equal((await ask('StorageFailed', {}, { kind: 'PersistentVolumeClaim', name: 'data' }))?.diagnosis, want);
  });
