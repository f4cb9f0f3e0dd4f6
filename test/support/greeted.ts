import type { Api } from '../../src/kube/api.ts';
import { aboutAnnotation, type NoticeSubject } from '../../src/kube/notice.ts';
import { systemHash } from '../../src/notices/cards/system-words.ts';
import { nameOfNotice, noticeBody } from '../../src/notices/outbox/notice-body.ts';
import type { Address } from '../../src/notices/plan/route.ts';

/** The Notices of a tapfix that has introduced itself in these chats before: it posts nothing when it starts. */
export async function greetIn(
  api: Pick<Api, 'get' | 'create' | 'patch'>,
  namespace: string,
  addresses: readonly Address[],
): Promise<void> {
  for (const { channel, chat } of addresses) {
    if (channel === 'console' || channel === 'webhook') continue;
    const name = nameOfNotice({ channel, chat }, 'system', 'hello');
    if (await api.get({ kind: 'Notice', namespace, name })) continue;
    const about: NoticeSubject = { what: 'hello', channel, watches: ['*'] };
    const annotations = { [aboutAnnotation]: JSON.stringify(about) };
    const address = { address: { channel, chat }, form: 'system' as const, members: [] };
    await api.create({ kind: 'Notice', namespace }, noticeBody(name, namespace, address, annotations));
    const status = { message: '990000', shown: systemHash(about, 0), postedAt: '2026-01-01T00:00:00Z', attempts: 1 };
    await api.patch({ kind: 'Notice', namespace, name, subresource: 'status' }, 'merge', { status });
  }
}
