import { z } from 'zod';
import type { KubeObject } from './api.ts';
import { objectName, plainText, uid } from './remediation.ts';

/** The Notice resource: one chat message. Types and CustomResourceDefinition both come from here. */
export const noticeForms = ['card', 'storm', 'boot', 'reminder', 'system'] as const;

export const memberSchema = z.object({ namespace: z.string().max(63), name: objectName, uid });
export type Member = z.infer<typeof memberSchema>;

export const noticeSpecSchema = z.object({
  channel: z.enum(['telegram', 'slack', 'console']),
  chat: z.string().max(128),
  thread: z.string().max(128).optional(),
  members: z.array(memberSchema).max(1000),
  form: z.enum(noticeForms),
});
export type NoticeSpec = z.infer<typeof noticeSpecSchema>;

export const noticeStatusSchema = z.object({
  message: z.string().max(128).optional(),
  shown: z.string().max(64).optional(),
  postedAt: z.string().meta({ format: 'date-time' }).optional(),
  attempts: z.number().int().min(0).optional(),
  lastError: plainText(1024).optional(),
});
export type NoticeStatus = z.infer<typeof noticeStatusSchema>;

export interface Notice extends KubeObject {
  spec: NoticeSpec;
  status?: NoticeStatus;
}

export function viewNotice(object: KubeObject): Notice | undefined {
  const notice = object as Notice;
  return notice.metadata?.uid && Array.isArray(notice.spec?.members) ? notice : undefined;
}
