import { readFileSync } from 'node:fs';
import type { KubeObject, Reader } from '../../src/kube/api.ts';
import type { Kind } from '../../src/kube/resources.ts';

/** A reader of what was recorded on a real cluster (thirteen kinds of trouble at once), uids and all. */
export function recordedReader(): Reader {
  const all = ['node-workloads', 'node-pods', 'node-events'].flatMap((file) => {
    const text = readFileSync(new URL(`../fixtures/recorded/${file}.json`, import.meta.url), 'utf8');
    const { items, kind } = JSON.parse(text) as { items: KubeObject[]; kind: string };
    return items.map((item) => ({ kind: kind.replace(/List$/, ''), ...item }));
  });
  const pick = (object: unknown, path: string): unknown =>
    path.split('.').reduce((node, key) => (node as Record<string, unknown> | undefined)?.[key], object);
  const meets = (selector: string | undefined, value: (key: string) => unknown): boolean =>
    (selector?.split(',') ?? []).filter(Boolean).every((term) => value(term.split('=')[0]!) === term.split('=')[1]);
  const ofKind = (kind: Kind, namespace?: string) =>
    all.filter((object) => object.kind === kind && (!namespace || object.metadata.namespace === namespace));
  return {
    get: async ({ kind, namespace, name }) =>
      structuredClone(ofKind(kind, namespace).find(({ metadata }) => metadata.name === name)) as never,
    list: async (kind, namespace, { labelSelector, fieldSelector } = {}) =>
      structuredClone(
        ofKind(kind, namespace).filter(
          (object) =>
            meets(labelSelector, (key) => object.metadata.labels?.[key]) &&
            meets(fieldSelector, (key) => pick(object, key)),
        ),
      ) as never,
  };
}
