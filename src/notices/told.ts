import type { Notice } from '../kube/notice.ts';
import type { Remediation } from '../kube/remediation.ts';

/** Which Remediations are in which message: asked of each of them, so it is put together once. */
export interface Told {
  /** In that channel, in whatever chat. */
  isTold(fix: Remediation, channel: string): boolean;
  noticesOf(fix: Remediation): readonly Notice[];
}

/** Those only repeat what another one tells. */
export const isNoReminder = ({ spec }: Notice): boolean => spec.form !== 'reminder';

export function toldBy(notices: readonly Notice[]): Told {
  const byUid = new Map<string, Notice[]>();
  for (const notice of notices.filter(isNoReminder))
    for (const { uid } of notice.spec.members) {
      const known = byUid.get(uid);
      if (known) known.push(notice);
      else byUid.set(uid, [notice]);
    }
  const noticesOf = ({ metadata }: Remediation): readonly Notice[] => byUid.get(metadata.uid) ?? [];
  return {
    noticesOf,
    isTold: (fix, channel) => noticesOf(fix).some(({ spec }) => spec.channel === channel),
  };
}
