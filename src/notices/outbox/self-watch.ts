import type { Channel, ChannelName } from '../../channels/channel.ts';
import type { Config } from '../../config/schema.ts';
import { type Api, isConflict, isNotFound } from '../../kube/api.ts';
import type { Sight } from '../../kube/contact.ts';
import { type NoticeSubject, aboutAnnotation, type Notice } from '../../kube/notice.ts';
import type { Listener, Store } from '../../kube/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf, unreachable } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { planSystem, type SharedBot, type SystemFacts, type SystemStep } from '../plan/blindness.ts';
import { addressesOf, everyChat } from '../plan/route.ts';
import { noticeBody } from './notice-body.ts';

interface SelfWatchDeps {
  api: Pick<Api, 'create' | 'patch' | 'delete'>;
  notices: Store<Notice>;
  clock: Clock;
  log: Log;
  current(): Config;
  /** The channels that are connected. */
  channels(): ReadonlyMap<ChannelName, Pick<Channel, 'chatNow'> | undefined>;
  /** tapfix's own namespace, where Notices live. */
  namespace: string;
  sights(): Sight[];
  /** Set if the configuration in the file was refused and is not used. */
  refusal?(): SystemFacts['refusal'];
  /** Signs that somebody else uses our bot. */
  shared?(): readonly SharedBot[];
  /** The watched namespaces, as a new chat is shown them. Without them no chat is greeted. */
  watches?(): readonly string[];
  /** For metrics: once per outage, however many chats get a message. */
  onBlindness?(what: 'blind' | 'unseen'): void;
}

interface SelfWatch {
  /** Called by the store of Notices. */
  listener: Listener<Notice>;
  run(signal: AbortSignal): Promise<void>;
}

const everyMs = 5_000;
/** Longer than it takes to notice again that a bot is shared. */
const sureAfterMs = 900_000;

/**
 * Watches how much tapfix can see, and records it: Notices of the form `system`, which the outbox sends. Nothing can be
 * written while the API server is away, so an outage is recorded once, afterwards.
 */
export function createSelfWatch(deps: SelfWatchDeps): SelfWatch {
  const { api, clock, log, current, notices, namespace } = deps;
  /** Names of Notices that any process has created. They may be gone by now. */
  const said = new Set<string>();
  const counted = new Set<string>();
  const startedMs = clock.now();

  function remember(notice: Notice): void {
    if (notice.spec.form === 'system') said.add(notice.metadata.name);
  }

  function put(notice: Notice): void {
    notices.put(notice);
    remember(notice);
  }

  function count(about: NoticeSubject): void {
    const { what } = about;
    if (what !== 'blind' && what !== 'unseen') return;
    const of = `${what} ${what === 'blind' ? about.from : about.parts[0]!.from}`;
    if (!counted.has(of)) deps.onBlindness?.(what);
    counted.add(of);
  }

  async function create({ name, address, about }: SystemStep & { do: 'create' }): Promise<void> {
    count(about);
    const annotations = { [aboutAnnotation]: JSON.stringify(about) };
    const body = noticeBody(name, namespace, { address, form: 'system', members: [] }, annotations);
    try {
      put(await api.create<Notice>({ kind: 'Notice', namespace }, body));
    } catch (error) {
      if (!isConflict(error)) throw error;
      said.add(name); // the answer was lost: it exists
    }
  }

  async function take(step: SystemStep): Promise<void> {
    switch (step.do) {
      case 'create':
        return create(step);
      case 'update': {
        const annotations = { [aboutAnnotation]: JSON.stringify(step.about) };
        const ref = { kind: 'Notice', namespace, name: step.notice.metadata.name } as const;
        return put(await api.patch<Notice>(ref, 'merge', { metadata: { annotations } }));
      }
      case 'delete': {
        const { name, uid } = step.notice.metadata;
        await api.delete({ kind: 'Notice', namespace, name }, { uid });
        notices.remove(uid);
        return;
      }
      default:
        return unreachable(step);
    }
  }

  async function pass(): Promise<void> {
    if (!notices.isComplete()) return;
    const config = current();
    const steps = planSystem({
      sights: deps.sights(),
      refusal: deps.refusal?.(),
      shared: deps.shared?.() ?? [],
      isSureOfBots: clock.now() - startedMs > sureAfterMs,
      notices: notices.all().filter(({ spec }) => spec.form === 'system'),
      said,
      addressesOf: (of) =>
        (of === undefined ? everyChat(config) : addressesOf(config, of)).filter(({ channel }) =>
          deps.channels().has(channel),
        ),
      watches: deps.watches?.() ?? [],
      chatNow: ({ channel, chat }) => deps.channels().get(channel)?.chatNow?.(chat) ?? chat,
      nowMs: clock.now(),
    });
    // A failed step does not stop the others; the next pass plans everything again.
    for (const step of steps)
      await take(step).catch((error: unknown) => {
        if (step.do !== 'create' && isNotFound(error)) notices.remove(step.notice.metadata.uid);
        else log.debug({ step: step.do, err: messageOf(error) }, 'own news not written yet');
      });
  }

  return {
    listener: {
      onList: (all) => all.forEach(remember),
      onChange(change) {
        if (change.type === 'upsert') remember(change.view);
      },
    },
    async run(signal) {
      while (!signal.aborted) {
        await pass();
        await clock.sleep(everyMs, signal);
      }
    },
  };
}
