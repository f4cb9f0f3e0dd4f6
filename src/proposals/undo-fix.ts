import type { RolledOutKind } from '../actions/action.ts';
import { rolloutUndo } from '../actions/rollout-undo.ts';
import { mergeTemplate } from '../actions/template.ts';
import { specIn } from '../kube/raw.ts';
import type { PodTemplate } from '../kube/views.ts';
import { spokenDuration } from '../lib/duration.ts';
import type { DeriveDeps } from './derive.ts';
import type { Fix } from './proposal.ts';
import { proposeUndo } from './propose-undo.ts';
import { replacedBy } from './replaced.ts';
import type { Scene } from './scene.ts';
import type { Trouble } from './trouble.ts';

/** The undo of the newest rollout, if that brought this trouble and the revision before was healthy; else why not. */
export function undoFix({ rollout }: Scene, { history, config, nowMs }: DeriveDeps, trouble: Trouble): Fix {
  const way = proposeUndo({ workload: rollout, history, stableForMs: config.recovery.stableFor, nowMs, trouble });
  if ('refused' in way) return way;
  const { metadata, kind: named } = rollout.object;
  const kind = named as RolledOutKind; // only these keep revisions
  const older = rollout.revisions.find(({ view }) => view.revision === way.revision)!;
  const current = specIn(rollout.object)['template'] as PodTemplate;
  const pods = replacedBy(kind, mergeTemplate(older.template, current), rollout, older);
  return {
    action: rolloutUndo as never,
    params: { kind, name: metadata.name, uid: metadata.uid, toRevision: way.revision },
    why: `Revision ${way.revision} was seen healthy for ${spokenDuration(way.ranMs)}; ${pods}.`,
  };
}
