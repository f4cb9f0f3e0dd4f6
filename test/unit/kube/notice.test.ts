import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aboutAnnotation, aboutOf, type Notice, type NoticeSubject } from '../../../src/kube/notice.ts';
import { aNotice, aNoticeOf, at } from '../../support/fixes.ts';

const aNoticeAbout = (
  about: NoticeSubject | string,
  over: Partial<Notice['spec']> = {},
  status: Notice['status'] = { message: '1' },
): Notice => {
  const notice = aNoticeOf([aNotice()], { form: 'system', members: [], ...over }, status);
  const annotations = { [aboutAnnotation]: typeof about === 'string' ? about : JSON.stringify(about) };
  return { ...notice, metadata: { ...notice.metadata, annotations } };
};
const unseen = (parts: [string, string, string?][], namespace?: string): NoticeSubject => ({
  what: 'unseen',
  ...(namespace && { namespace }),
  parts: parts.map(([kind, from, until]) => ({
    kind,
    from: at(from),
    ...(until && { until: at(until) }),
    why: 'forbidden',
  })),
});

const open = aNoticeAbout(unseen([['Pod', '04:02:00']], 'shop'), { chat: '-100900', thread: '17' });

test('what cannot be rendered is nobody’s: a hand-written annotation with odd times, kinds, or too many parts', () => {
  const part = { kind: 'Pod', from: at('04:02:00'), why: 'forbidden' };
  const odd = [
    {},
    { what: 'blind', from: 'yesterday', until: at('04:09:00'), why: 'silent' },
    { what: 'unseen', parts: [] },
    { what: 'unseen', parts: Array.from({ length: 51 }, () => part) },
  ];
  for (const about of odd) assert.equal(aboutOf(aNoticeAbout(JSON.stringify(about))), undefined);
  assert.notEqual(aboutOf(open), undefined);
});
