import type { Api } from '../kube/api.ts';
import type { Notice } from '../kube/notice.ts';
import { reminderAnnotation, reminderOf } from './reminder.ts';

/**
 * A message that has not left goes to the chat that the vendor named; its Notice says so before it is sent, so that
 * it is known where it is, whenever we are killed. What it was to answer stayed in the old chat.
 */
export function moved(notice: Notice, chat: string, api: Pick<Api, 'patch'>): Promise<Notice> {
  const { namespace, name } = notice.metadata;
  const kind = reminderOf(notice)?.kind;
  const metadata = kind && { annotations: { [reminderAnnotation]: JSON.stringify({ kind }) } };
  const ref = { kind: 'Notice', ...(namespace && { namespace }), name } as const;
  return api.patch<Notice>(ref, 'merge', { ...(metadata && { metadata }), spec: { chat } });
}
