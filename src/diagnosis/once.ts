import type { KubeObject, ListSelector, Reader } from '../kube/api.ts';
import type { Kind, Ref } from '../kube/resources.ts';

/** A reader that asks each question once: all that is said of one case comes from one moment, and costs one reading. */
export function createOnce(reader: Reader): Reader {
  const answers = new Map<string, Promise<unknown>>();
  const once = <T>(question: string, ask: () => Promise<T>): Promise<T> => {
    const answer = answers.get(question) ?? ask();
    answers.set(question, answer);
    return answer as Promise<T>;
  };
  return {
    get: <T extends KubeObject>(ref: Ref) =>
      once(`get ${ref.kind} ${ref.namespace} ${ref.name}`, () => reader.get<T>(ref)),
    list: <T extends KubeObject>(kind: Kind, namespace?: string, selector: ListSelector = {}) => {
      const { labelSelector = '', fieldSelector = '' } = selector;
      const question = `list ${kind} ${namespace} ${labelSelector} ${fieldSelector}`;
      return once(question, () => reader.list<T>(kind, namespace, selector));
    },
  };
}
