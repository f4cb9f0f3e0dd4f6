import { z } from 'zod';
import type { KubeObject } from './api.ts';
import { objectName, plainText, time, uid } from './remediation.ts';

/** The Notice resource: one chat message. Types and CustomResourceDefinition both come from here. */
export const noticeForms = ['card', 'storm', 'boot', 'reminder', 'system', 'escalation'] as const;

export const memberSchema = z.object({ namespace: z.string().max(63), name: objectName, uid });
export type Member = z.infer<typeof memberSchema>;

export const noticeSpecSchema = z.object({
  channel: z.enum(['telegram', 'slack', 'console', 'webhook']),
  chat: z.string().max(128),
  thread: z.string().max(128).optional(),
  members: z.array(memberSchema).max(1000),
  form: z.enum(noticeForms),
});
export type NoticeSpec = z.infer<typeof noticeSpecSchema>;

export const noticeStatusSchema = z.object({
  message: z.string().max(128).optional(),
  shown: z.string().max(64).optional(),
  postedAt: time.optional(),
  attempts: z.number().int().min(0).optional(),
  lastError: plainText(1024).optional(),
});
export type NoticeStatus = z.infer<typeof noticeStatusSchema>;

export interface Notice extends KubeObject {
  spec: NoticeSpec;
  status?: NoticeStatus;
}

/** It shows incidents and their buttons. All others only repeat what such a message shows, or are about tapfix itself. */
export const isCard = ({ spec }: Notice): boolean => ['card', 'boot', 'storm'].includes(spec.form);

export function viewNotice(object: KubeObject): Notice | undefined {
  const notice = object as Notice;
  return notice.metadata?.uid && Array.isArray(notice.spec?.members) ? notice : undefined;
}

/**
 * Annotation of a Notice of the form `system`: its content, as JSON. Such a Notice has no members to render it from.
 */
export const aboutAnnotation = 'tapfix.dev/about';

const moment = z.iso.datetime();
const why = z.enum(['unreachable', 'silent', 'forbidden', 'unauthorized', 'too large', 'failing']);
const part = z.object({ kind: z.string().max(63), from: moment, until: moment.optional(), why });

const vendor = z.enum(['telegram', 'slack']);

/**
 * Six cases. `blind`: nothing at all was seen, and that is over. `unseen`: some kinds are not seen, in one namespace
 * or everywhere. `refused`: the configuration was changed but the change is not used, `until` it was changed again.
 * `shared`: somebody else uses our bot as well, which is known by this `sign`. `hello`: tapfix has introduced itself in
 * this chat. `test`: a card that somebody asked for to see whether cards and presses arrive, `until` it was pressed or
 * had expired.
 */
const aboutSchema = z.discriminatedUnion('what', [
  z.object({ what: z.literal('blind'), from: moment, until: moment, why }),
  z.object({
    what: z.literal('unseen'),
    namespace: z.string().max(63).optional(),
    parts: z.array(part).min(1).max(50),
  }),
  z.object({
    what: z.literal('shared'),
    channel: vendor,
    sign: z.enum(['press', 'connection']),
    from: moment,
    until: moment.optional(),
  }),
  z.object({ what: z.literal('refused'), from: moment, until: moment.optional(), problem: z.string().max(600) }),
  z.object({ what: z.literal('hello'), channel: vendor, watches: z.array(z.string().max(253)).min(1).max(50) }),
  z.object({ what: z.literal('test'), from: moment, until: moment.optional(), by: z.string().max(256).optional() }),
]);
export type NoticeSubject = z.infer<typeof aboutSchema>;
export type UnseenPart = z.infer<typeof part>;

/** undefined: the annotation is not ours, or is of another version. */
export function aboutOf({ metadata }: Notice): NoticeSubject | undefined {
  try {
    return aboutSchema.parse(JSON.parse(metadata.annotations?.[aboutAnnotation] ?? ''));
  } catch {
    return undefined;
  }
}
