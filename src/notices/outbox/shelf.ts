import type { Notice } from '../../kube/notice.ts';
import type { Remediation } from '../../kube/remediation.ts';
import type { Clock } from '../../lib/clock.ts';
import { isRehearsed } from '../cards/card-context.ts';
import type { SeenTimes } from '../plan/waiting.ts';

/** A list that was read before our creation does not show it yet: for so long it is no proof of absence. */
const listLagMs = 60_000;

/** What exists, as the watches tell it. Nothing may be said before both were listed once: it would be said again. */
export interface Shelf {
  complete(): boolean;
  fixes(): Remediation[];
  fix(uid: string): Remediation | undefined;
  listFixes(fixes: readonly Remediation[]): void;
  putFix(fix: Remediation): void;
  dropFix(uid: string): void;
  /** As it was last seen, of one that is gone while its message is still to be told so. */
  departed(uid: string): Remediation | undefined;
  /** When this process saw it. */
  seen(fix: Remediation): SeenTimes;
  notices(): Notice[];
  notice(name: string): Notice | undefined;
  noticesWith(uid: string): Notice[];
  /** Returns the names that are gone. */
  listNotices(notices: readonly Notice[]): string[];
  putNotice(notice: Notice): void;
  /** The server's answer to a write of ours. */
  created(notice: Notice): void;
  dropNotice(name: string): void;
}

export function createShelf(clock: Clock): Shelf {
  let fixes = new Map<string, Remediation>();
  let notices = new Map<string, Notice>();
  const listed = { fixes: false, notices: false };
  const seenAt = new Map<string, SeenTimes>();
  const createdAtMs = new Map<string, number>();
  const departed = new Map<string, Remediation>();
  const isMember = (uid: string): boolean =>
    [...notices.values()].some(({ spec }) => spec.members.some((member) => member.uid === uid));

  function putFix(fix: Remediation): void {
    fixes.set(fix.metadata.uid, fix);
    const seen = seenAt.get(fix.metadata.uid) ?? { firstMs: clock.now() };
    if (isRehearsed(fix)) seen.rehearsedMs ??= clock.now();
    seenAt.set(fix.metadata.uid, seen);
  }
  return {
    complete: () => listed.fixes && listed.notices,
    fixes: () => [...fixes.values()],
    fix: (uid) => fixes.get(uid),
    listFixes(all) {
      const before = fixes;
      fixes = new Map();
      for (const fix of all) putFix(fix);
      for (const [uid, fix] of before) if (!fixes.has(uid) && isMember(uid)) departed.set(uid, fix);
      for (const uid of seenAt.keys()) if (!fixes.has(uid)) seenAt.delete(uid);
      listed.fixes = true;
    },
    putFix,
    dropFix(uid) {
      const last = fixes.get(uid);
      if (last && isMember(uid)) departed.set(uid, last);
      fixes.delete(uid);
      seenAt.delete(uid);
    },
    departed: (uid) => departed.get(uid),
    seen: (fix) => seenAt.get(fix.metadata.uid) ?? { firstMs: clock.now() },
    notices: () => [...notices.values()],
    notice: (name) => notices.get(name),
    noticesWith: (uid) => [...notices.values()].filter(({ spec }) => spec.members.some((member) => member.uid === uid)),
    listNotices(all) {
      const before = notices;
      notices = new Map(all.map((notice) => [notice.metadata.name, newer(before.get(notice.metadata.name), notice)]));
      for (const [name, atMs] of createdAtMs) {
        const own = before.get(name);
        if (clock.now() - atMs >= listLagMs) createdAtMs.delete(name);
        else if (own && !notices.has(name)) notices.set(name, own);
      }
      for (const uid of departed.keys()) if (!isMember(uid)) departed.delete(uid);
      listed.notices = true;
      return [...before.keys()].filter((name) => !notices.has(name));
    },
    putNotice: (notice) => void notices.set(notice.metadata.name, newer(notices.get(notice.metadata.name), notice)),
    created(notice) {
      notices.set(notice.metadata.name, notice);
      createdAtMs.set(notice.metadata.name, clock.now());
    },
    dropNotice(name) {
      const { members = [] } = notices.get(name)?.spec ?? {};
      notices.delete(name);
      createdAtMs.delete(name);
      for (const { uid } of members) if (!isMember(uid)) departed.delete(uid);
    },
  };
}

/** The watch tells the past: the answer to our own write may be newer, and has members that this does not know yet. */
const newer = (known: Notice | undefined, told: Notice): Notice =>
  known?.metadata.uid === told.metadata.uid &&
  Number(known.metadata.resourceVersion) > Number(told.metadata.resourceVersion)
    ? known
    : told;
