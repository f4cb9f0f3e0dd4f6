import { type Api, hasCode, isNotFound, type KubeObject } from '../../kube/api.ts';
import { canonical } from '../../lib/hash.ts';
import { cutName, shortHash } from '../common/names.ts';
import { refOf } from '../common/patch.ts';
import { ownedBy } from '../common/pods.ts';
import type { Template } from '../common/shapes.ts';
import { ownerOf } from './pod-control.ts';

/** A template that a StatefulSet or DaemonSet once had: what an undo goes back to. */
export interface RevisionObject extends KubeObject {
  revision?: number;
  data?: { spec?: { template?: Template & { $patch?: string } } };
}

export interface Revisions {
  newest: RevisionObject;
  /** All, the newest last. */
  all: RevisionObject[];
}

interface Owner extends KubeObject {
  spec?: { template?: Template; revisionHistoryLimit?: number };
}

const dataOf = (template: Template = {}) => ({ spec: { template: { ...template, $patch: 'replace' } } });

/** Makes the present template the newest revision: a new one, or an old one that is taken up again. */
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
      // Created a moment ago, by a pass whose answer was lost.
      const there = hasCode(error, 409)
        ? await api.get<RevisionObject>({ kind: 'ControllerRevision', namespace, name: body.metadata.name })
        : undefined;
      if (there && ownedBy(uid)(there)) return there;
      throw error;
    }
  }
}

/** Revisions beyond the limit that no pod has and nobody goes back to by name. */
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
