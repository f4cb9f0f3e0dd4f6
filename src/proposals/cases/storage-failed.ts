import { editOf, inWords } from '../../diagnosis/changed.ts';
import { createOnce } from '../../diagnosis/readers.ts';
import { claimsInWords, readClaim, readClaimsOf } from '../../diagnosis/storage.ts';
import { ifForbidden } from '../../kube/api.ts';
import { timeMs } from '../../kube/raw.ts';
import { counted } from '../../lib/text.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { type Case, nothingSafe } from '../scene.ts';
import { volumeStuckCase } from './waiting-pods.ts';

const mostNamed = 4;

async function claimCase({ namespace, object }: Subject, { reader, nowMs }: DeriveDeps): Promise<Case | undefined> {
  const claim = await readClaim(createOnce(reader), namespace, object);
  if (!claim) return undefined;
  const { why, asks, waiting, madeBy } = claim;
  const created = { atMs: timeMs(claim.object.metadata.creationTimestamp), text: 'claim created' };
  const names = `${waiting.slice(0, mostNamed).join(', ')}${waiting.length > mostNamed ? ' and others' : ''}`;
  return {
    diagnosis: why || 'the claim has no volume, and nobody says why',
    changed: inWords([created, editOf(claim.object, [])], nowMs),
    evidence: [
      ...(asks ? [`it asks for ${asks}`] : []),
      ...(waiting.length > 0
        ? [`${counted(waiting.length, 'pod')} ${waiting.length === 1 ? 'waits' : 'wait'} for it: ${names}`]
        : []),
    ],
    fix: {
      refused:
        madeBy === undefined
          ? nothingSafe
          : `StatefulSet ${madeBy} made it from its volumeClaimTemplates, which an undo does not put back`,
    },
  };
}

/** If the class may not be read, "does not exist" comes from the component that looked for it. */
async function classCase({ object }: Subject, { reader }: DeriveDeps): Promise<Case> {
  const [live, claims] = await Promise.all([
    reader.get({ kind: 'StorageClass', name: object.name }).catch(ifForbidden(undefined)),
    readClaimsOf(reader, object.name),
  ]);
  return {
    diagnosis: live ? `StorageClass ${object.name} is there by now` : `StorageClass ${object.name} does not exist`,
    changed: [],
    evidence: claims && claims.length > 0 ? [claimsInWords(claims)] : [],
    fix: { refused: nothingSafe },
  };
}

export async function storageFailedCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  if (subject.object.kind === 'StorageClass') return classCase(subject, deps);
  if (subject.object.kind === 'PersistentVolumeClaim') return claimCase(subject, deps);
  return volumeStuckCase(subject, deps);
}
