import { parseAction } from '../actions/table.ts';
import type { Remediation } from '../kube/remediation.ts';

export interface ActionWords {
  /** false: of another version, and nothing that this one could do. */
  known: boolean;
  verb: string;
  summary: string;
  consequence: string;
}

/** How the action is talked about. One that we do not know (a newer tapfix wrote it) is named, never a crash. */
export function actionWords(fix: Remediation): ActionWords | undefined {
  const spec = fix.spec.action;
  if (!spec) return undefined;
  try {
    const { action, params } = parseAction(spec);
    const { verb } = action;
    return { known: true, verb, summary: action.summary(params), consequence: action.consequence(params) };
  } catch {
    const type = String(spec.type);
    return { known: false, verb: type, summary: `${type} (unknown to this version)`, consequence: `run ${type}` };
  }
}
