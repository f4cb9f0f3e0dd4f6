import { type Api, hasCode, isNotFound, type KubeObject } from '../../src/kube/api.ts';
import { canonical } from '../../src/lib/hash.ts';
import { ownedBy } from '../../src/sim/common/pod-facts.ts';
import type { Template } from '../../src/sim/common/shapes.ts';
import { refOf } from '../../src/sim/common/status-writing.ts';
import { cutName, shortHash } from '../../src/sim/controllers/deployment-revisions.ts';
import { ownerOf } from '../../src/sim/controllers/pod-control.ts';

/** An earlier template of a StatefulSet or DaemonSet, which an undo can restore. */
export interface RevisionObject extends KubeObject {
  revision?: number;
  data?: { spec?: { template?: Template & { $patch?: string } } };
}

export interface Revisions {
  newest: RevisionObject;
  /** All revisions, the newest last. */
  all: RevisionObject[];
}

interface Owner extends KubeObject {
  spec?: { template?: Template; revisionHistoryLimit?: number };
}

const dataOf = (template: Template = {}) => ({ spec: { template: { ...template, $patch: 'replace' } } });

/** Makes the current template the newest revision: creates one, or renumbers an old one with the same template. */
export async function syncRevisions(
  api: Api,
  owner: Owner,
  labelsFor: (hash: string) => Record<string, string>,
): Promise<Revisions> {
  const { namespace, name, uid, annotations } = owner.metadata;
  const all = await api.list<RevisionObject>('ControllerRevision', namespace);
  const own = all.filter(ownedBy(uid)).sort((a, b) => (a.revision ?? 0) - (b.revision ?? 0));
  const data = dataOf(owner.spec?.template);
  const same = own.find((revision) => canonical(revision.data) === canonical(data));
  const last = own.at(-1);
  if (same && same === last) return { newest: same, all: own };
  const revision = (last?.revision ?? 0) + 1;
  const hash = shortHash(data);
  const newest = same
    ? await api.patch<RevisionObject>(refOf('ControllerRevision', same), 'merge', { revision })
    : await create({
        metadata: {
          name: cutName(name, hash, 253),
          labels: labelsFor(hash),
          annotations,
          ownerReferences: [ownerOf(owner)],
        },
        data,
        revision,
      });
  return { newest, all: [...own.filter((it) => it !== same), newest] };

  async function create(body: { metadata: { name: string; [field: string]: unknown }; [field: string]: unknown }) {
    try {
      return await api.create<RevisionObject>({ kind: 'ControllerRevision', namespace }, body);
    } catch (error) {
      // An earlier pass created it, but did not receive the answer.
      const there = hasCode(error, 409)
        ? await api.get<RevisionObject>({ kind: 'ControllerRevision', namespace, name: body.metadata.name })
        : undefined;
      if (there && ownedBy(uid)(there)) return there;
      throw error;
    }
  }
}

/** Deletes the revisions beyond the limit that are not in use. */
export async function forgetOldRevisions(
  api: Api,
  { all }: Revisions,
  isLive: (name: string) => boolean,
  limit = 10,
): Promise<void> {
  const idle = all.filter(({ metadata }) => !isLive(metadata.name));
  for (const revision of idle.slice(0, Math.max(idle.length - limit, 0))) {
    try {
      await api.delete(refOf('ControllerRevision', revision), { uid: revision.metadata.uid });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
