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

test('a claim that a StatefulSet made is not one that an undo puts back, and the card says so', async () => {
  const { server, ask } = aRollout();
  server.seed('PersistentVolumeClaim', 'shop', {
    metadata: { name: 'data-db-0' },
    spec: { storageClassName: 'fast' },
    status: { phase: 'Pending' },
  });
  const { uid } = server.seed('StatefulSet', 'shop', { metadata: { name: 'db' } }).metadata;
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid, controller: true };
  server.seed('Pod', 'shop', {
    metadata: { name: 'db-0', ownerReferences: [owner] },
    spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } }] },
  });
  const { rationale } = (await ask('StorageFailed', {}, { kind: 'PersistentVolumeClaim', name: 'data-db-0' }))!;
  assert.equal(rationale, 'StatefulSet db made it from its volumeClaimTemplates, which an undo does not put back');
});
