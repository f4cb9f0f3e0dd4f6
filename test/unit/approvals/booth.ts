import type { Prepared } from '../../../src/actions/action.ts';
import { createConfirms } from '../../../src/approvals/confirms.ts';
import { type ApprovalsDeps, createApprovals } from '../../../src/approvals/press.ts';
import type { Press } from '../../../src/channels/channel.ts';
import { type Api, ApiError, type KubeObject } from '../../../src/kube/api.ts';
import type { Approval, Remediation } from '../../../src/kube/remediation.ts';
import { encodePress, type Verb } from '../../../src/notices/payload.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aConfig, aFix, aNoticeOf, at } from '../../support/fixes.ts';

/** One Remediation on a server that honours resourceVersion, and everything that decides about it. */
export function aBooth(fix: Remediation = aFix(), over: Partial<ApprovalsDeps> = {}) {
  const clock = fakeClock(Date.parse(at('02:14:10')));
  let live = structuredClone(fix);
  const events: object[] = [];
  const audit: Record<string, unknown>[] = [];
  const hooks = {
    beforePatch: () => {},
    get: async () => {},
    patch: async () => {},
    prepare: async () => {},
    rbac: true,
  };
  const target: { prepared: Prepared } = {
    prepared: { ok: true, targetHash: fix.status?.preview?.targetHash } as never,
  };
  const api = {
    get: async () => {
      await hooks.get();
      return structuredClone(live) as KubeObject;
    },
    patch: async (_ref: object, _type: string, body: object) => {
      hooks.beforePatch();
      await hooks.patch();
      const { metadata, spec } = body as { metadata: Remediation['metadata']; spec?: { approval: Approval } };
      if (metadata.resourceVersion !== live.metadata.resourceVersion) throw new ApiError('conflict', 409, 'Conflict');
      const annotations = { ...live.metadata.annotations, ...metadata.annotations };
      change({ ...live, metadata: { ...live.metadata, annotations }, spec: { ...live.spec, ...spec } });
      return live;
    },
    page: async () => ({ items: events, metadata: { resourceVersion: '1' } }),
  } as unknown as Api;
  const change = (next: Remediation): void => {
    live = {
      ...next,
      metadata: { ...next.metadata, resourceVersion: String(Number(live.metadata.resourceVersion) + 1) },
    };
  };
  const confirms = createConfirms({ clock, signal: new AbortController().signal });
  const approvals = createApprovals({
    api,
    clock,
    log: { debug() {}, warn() {}, error() {}, info: (fields) => void audit.push(fields as Record<string, unknown>) },
    current: () => aConfig(),
    fixByUid: (uid) => (uid === fix.metadata.uid ? fix : undefined),
    noticeAt: (_channel, place, message) =>
      place.chat === '-100500' && message === '4711' ? aNoticeOf([fix]) : undefined,
    noticesWith: (uid) => (uid === fix.metadata.uid ? [aNoticeOf([fix])] : []),
    confirms,
    subjectAccess: async () => hooks.rbac,
    prepare: async () => {
      await hooks.prepare();
      return target.prepared;
    },
    proposeAgain: async () => ({ ok: false, because: 'over' }),
    ownNamespace: 'tapfix',
    timeZone: 'Europe/Berlin',
    ...over,
  });
  const press = (verb: Verb, id = 123456789, over: Partial<Press> = {}) =>
    approvals.onPress({
      channel: 'telegram',
      by: `telegram:${id}`,
      name: 'somebody',
      place: { chat: '-100500' },
      message: '4711',
      data: encodePress(verb, fix),
      ...over,
    });
  return {
    clock,
    hooks,
    target,
    audit,
    events,
    approvals,
    confirms,
    press,
    change,
    live: () => live,
    approval: () => live.spec.approval,
    annotations: () => live.metadata.annotations,
  };
}
