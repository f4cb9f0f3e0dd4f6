import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import { hasCode, isForbidden, type KubeObject, type Reader } from './api.ts';
import type { Kind } from './resources.ts';

/** How many requests may be made. Answers that nobody waits for urgently come in groups then. */
export interface Pace {
  /** So many at once, after a quiet time. */
  most: number;
  perSecond: number;
  /** A storm of questions may cost a little more than a trickle. */
  perQuestion: number;
}

/**
 * Noise asks about objects that are gone, one after the other. With these figures fifty thousand of them cost a few
 * hundred requests, and a question of a quiet cluster is still asked at once.
 */
export const usualPace: Pace = { most: 50, perSecond: 2, perQuestion: 0.01 };

/** A group of at least this many questions is answered by one list. */
const worthList = 3;
const mostAtOnce = 8;
/** A list that is not possible (forbidden, too large) is not tried again so soon. */
const unlistableMs = 600_000;
const perPage = 250;
const longestRestMs = 1_000;

/** The watch has shown the object meanwhile: nobody needs to ask. */
export const shown = Symbol('shown');
type Shown<T> = T | undefined | typeof shown;

interface Question {
  answer: Promise<Shown<KubeObject>>;
  resolve(answer: Shown<KubeObject>): void;
  reject(error: unknown): void;
}

interface Group {
  kind: Kind;
  namespace: string;
  /** By name. */
  questions: Map<string, Question>;
}

export interface OwnerQuestions {
  /** undefined: there is no such object. The answer is never older than the question. */
  ask(kind: Kind, namespace: string, name: string, uid?: string): Promise<Shown<KubeObject>>;
  /** The watch shows this object now. */
  hasShown(uid: string): void;
}

/**
 * Asks the API server whether objects exist. The same question is asked once, and several about one kind and namespace
 * become one list, which was begun after all of them. Without a pace everything is asked at once.
 */
export function createQuestions(reader: Reader, clock: Clock, pace?: Pace): OwnerQuestions {
  const groups = new Map<string, Group>(); // in the order of their oldest question
  const byUid = new Map<string, () => void>();
  const unlistable = new LRUCache<string, number>({ max: 1_000 });
  let tokens = pace?.most ?? 0;
  let filledAtMs = clock.now();
  let running = 0;
  let isResting = false;

  function fill(): void {
    if (!pace) return;
    const nowMs = clock.now();
    tokens = Math.min(tokens + ((nowMs - filledAtMs) / 1000) * pace.perSecond, pace.most);
    filledAtMs = nowMs;
  }

  function pump(): void {
    fill();
    for (const [of, group] of groups) {
      if (group.questions.size === 0) {
        groups.delete(of);
        continue;
      }
      if (running >= mostAtOnce) return;
      if (pace && tokens < 1) return rest();
      tokens -= 1;
      running += 1;
      groups.delete(of);
      void answer(of, group).finally(() => {
        running -= 1;
        pump();
      });
    }
  }

  /** Questions that come meanwhile join those that wait, and bring a little of what a request costs. */
  function rest(): void {
    if (isResting) return;
    isResting = true;
    void clock.sleep(Math.min(Math.ceil(((1 - tokens) / pace!.perSecond) * 1000), longestRestMs)).then(() => {
      isResting = false;
      pump();
    });
  }

  async function answer(of: string, group: Group): Promise<void> {
    const { kind, namespace, questions } = group;
    const isListable = (unlistable.get(of) ?? 0) <= clock.now();
    if (questions.size >= worthList && isListable) return answerByList(of, group);
    const [first] = questions;
    if (!first) return;
    const [name, { resolve, reject }] = first;
    questions.delete(name);
    putBack(group);
    await reader.get<KubeObject>({ kind, namespace, name }).then(resolve, reject);
  }

  async function answerByList(of: string, group: Group): Promise<void> {
    const { kind, namespace, questions } = group;
    try {
      const metadataOnly = kind !== 'Job'; // whether a Job is Indexed is in its spec
      const found = await reader.list<KubeObject>(kind, namespace, { metadataOnly });
      tokens -= Math.ceil(found.length / perPage) - 1;
      const byName = new Map(found.map((object) => [object.metadata.name, object]));
      for (const [name, { resolve }] of questions) resolve(byName.get(name));
    } catch (error) {
      if (isForbidden(error) || hasCode(error, 413)) {
        unlistable.set(of, clock.now() + unlistableMs);
        return putBack(group);
      }
      for (const { reject } of questions.values()) reject(error);
    }
  }

  /** The rest of a group waits for its next turn, with the questions that came meanwhile. */
  function putBack({ kind, namespace, questions }: Group): void {
    if (questions.size === 0) return;
    const group = groupOf(kind, namespace);
    for (const [name, question] of questions) {
      const newer = group.questions.get(name);
      if (newer) void newer.answer.then(question.resolve, question.reject);
      else group.questions.set(name, question);
    }
  }

  function groupOf(kind: Kind, namespace: string): Group {
    const of = `${kind} ${namespace}`;
    const known = groups.get(of);
    if (known) return known;
    const none: Group = { kind, namespace, questions: new Map() };
    groups.set(of, none);
    return none;
  }

  return {
    ask(kind, namespace, name, uid = '') {
      const { questions } = groupOf(kind, namespace);
      const asked = questions.get(name);
      if (asked) return asked.answer;
      const { promise, resolve, reject } = Promise.withResolvers<Shown<KubeObject>>();
      questions.set(name, { answer: promise, resolve, reject });
      if (uid) byUid.set(uid, () => resolve(shown));
      if (pace) tokens = Math.min(tokens + pace.perQuestion, pace.most);
      // Whoever asks in the same moment is answered by the same list.
      if (running < mostAtOnce && !isResting) queueMicrotask(pump);
      const forget = (): void => {
        byUid.delete(uid);
        if (questions.get(name)?.answer === promise) questions.delete(name);
      };
      void promise.then(forget, forget);
      return promise;
    },
    hasShown: (uid) => byUid.get(uid)?.(),
  };
}
