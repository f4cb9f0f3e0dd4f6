import { type Remediation, undoIntro } from '../../../src/kube/remediation.ts';
import { approvedByAda, aQuotaFix, at, condition, executed } from '../../support/fixes.ts';

/** A command of that many characters whose end must not get lost. */
export const commandOf = (length: number): string => {
  const [head, tail] = ["kubectl -n shop create -f - <<'EOF'\n{", '}\nEOF'];
  return head + 'x'.repeat(length - head.length - tail.length) + tail;
};
const why = 'The namespace has no such limit afterwards.';
const diff = (length: number) => ({
  preview: { diff: 'd'.repeat(length), targetHash: 'q', at: at('02:12:36') },
});
export const proposed = (length: number, diffLength = 40): Remediation =>
  aQuotaFix({ spec: { rationale: `${why} ${undoIntro}\n${commandOf(length)}` }, status: diff(diffLength) });
export const failed = (length: number): Remediation =>
  aQuotaFix({
    approval: approvedByAda,
    phase: 'Failed',
    conditions: [condition('Failed', '02:24:12')],
    status: { execution: { ...executed, undo: commandOf(length) } },
  });

export const printed = {
  rationale: "kubectl -n shop get fix platform-hardening-3f9a1c-7 -o jsonpath='{.spec.rationale}'",
  undo: "kubectl -n shop get fix platform-hardening-3f9a1c-7 -o jsonpath='{.status.execution.undo}'",
};
export const longCommands: [string, Remediation, number, string | undefined][] = [
  ['a short one of a proposal', proposed(200), 200, undefined],
  ['one as long as a rationale may hold', proposed(1_980), 1_980, undefined],
  ['a long one beside a long diff', proposed(1_980, 8_000), 1_980, printed.rationale],
  ['a short one beside a long diff', proposed(200, 8_000), 200, undefined],
  ['a short one of a failed fix', failed(200), 200, undefined],
  ['a long one of a failed fix', failed(3_500), 3_500, printed.undo],
  ['one of a failed fix that alone fills the message', failed(4_096), 4_096, printed.undo],
];
