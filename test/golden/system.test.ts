import { test } from 'node:test';
import type { NoticeSubject } from '../../src/kube/notice.ts';
import { composeSystem } from '../../src/notices/cards/system-words.ts';
import { at } from '../support/fixes.ts';
import { compareWords } from './compare.ts';

/* What tapfix says about itself. */

const blind = (from: string, why: (NoticeSubject & { what: 'blind' })['why'] = 'unreachable'): NoticeSubject => ({ what: 'blind', from, until: at('03:09:20'), why });
const unseen = (kinds: string[], over: { namespace?: string; until?: string } = {}): NoticeSubject => ({
  what: 'unseen',
  ...(over.namespace && { namespace: over.namespace }),
  parts: kinds.map((kind) => ({ kind, from: at('03:02:10'), ...(over.until && { until: over.until }), why: 'forbidden' })),
});
const refused = (until?: string): NoticeSubject => ({ what: 'refused', from: at('03:02:10'), ...(until && { until }), problem: 'approval.approvers[1].telegram must be a number (line 31)' });
const shared = (sign: 'press' | 'connection', until?: string): NoticeSubject => ({ what: 'shared', channel: sign === 'press' ? 'telegram' : 'slack', sign, from: at('03:02:10'), ...(until && { until }) });
const kinds = ['Pod', 'Event', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job'];

const scenes: [string, NoticeSubject, number][] = [
  ['system blind', blind(at('03:02:10')), 0],
  ['system blind three found', blind(at('03:02:10')), 3],
  ['system blind since yesterday', blind('2026-11-15T22:10:00Z', 'silent'), 1],
  ['system unseen', unseen(['Pod'], { namespace: 'shop' }), 0],
  ['system unseen everywhere', unseen(kinds), 0],
  ['system unseen over', unseen(['Pod', 'Event'], { namespace: 'shop', until: at('03:09:20') }), 0],
  ['system refused', refused(), 0],
  ['system refused over', refused(at('03:09:20')), 0],
  ['system shared bot', shared('press'), 0],
  ['system shared app', shared('connection'), 0],
  ['system shared bot over', shared('press', at('03:09:20')), 0],
  ['system hello', { what: 'hello', channel: 'telegram', watches: ['shop-*', 'payments'] }, 0],
  ['system hello slack', { what: 'hello', channel: 'slack', watches: ['*'] }, 0],
  ['system test card', { what: 'test', from: at('03:09:20') }, 0],
  ['system test card pressed', { what: 'test', from: at('03:09:20'), until: at('03:09:24'), by: 'telegram:1' }, 0],
  ['system test card expired', { what: 'test', from: at('02:59:20'), until: at('03:09:20') }, 0],
];
const context = {
  cluster: 'prod-eu',
  nowMs: Date.parse(at('03:09:25')),
  timeZone: 'Europe/Berlin',
  notice: 'c0ffee00c0ffee00c0ffee00c0ffee00',
  nameOf: () => 'Ada',
};

for (const [name, about, found] of scenes)
  test(`the words of ${name}`, () => compareWords(name, composeSystem(about, found, context)));
