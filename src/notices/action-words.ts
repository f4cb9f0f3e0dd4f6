import { parseAction } from '../actions/table.ts';
import type { Remediation } from '../kube/remediation.ts';

export interface ActionWords {
  verb: string;
  noun: string;
  summary: string;
  consequence: string;
}

/** How the action is talked about. One that we do not know (a newer tapfix wrote it) is named, never a crash. */
export function actionWords(fix: Remediation): ActionWords | undefined {
  const spec = fix.spec.action;
  if (!spec) return undefined;
  try {
    const { action, params } = parseAction(spec);
    const { verb, noun } = action;
    return { verb, noun, summary: action.summary(params), consequence: action.consequence(params) };
  } catch {
    const type = String(spec.type);
    return { verb: type, noun: type, summary: `${type} (unknown to this version)`, consequence: `run ${type}` };
  }
}
