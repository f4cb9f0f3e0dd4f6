import type { Config } from '../config/schema.ts';
import type { KubeObject } from '../kube/api.ts';
import { type EventView, viewEvent } from '../kube/views.ts';
import { isKnownKind, resources } from '../kube/resources.ts';
import { isNormalFailure, rowOf } from './reasons.ts';
import type { Signal } from './signal.ts';

/**
 * What a name can be at all. Whom an event is about the API server does not check, and whoever may write events could have us
 * keep megabytes of it. https://github.com/kubernetes/apimachinery/blob/master/pkg/api/validation/path/name.go
 */
const possibleName = /^(?!\.{1,2}$)[^/%\s\p{C}]{1,253}$/u;
const [longestKind, longestUid] = [320, 128];

/** undefined: nobody could say what it is about. */
export function readEvent(object: KubeObject): EventView | undefined {
  const event = viewEvent(object);
  if (!event) return undefined;
  const { kind, name, namespace, uid } = event.object;
  const isPossible = possibleName.test(name) && (namespace === '' || possibleName.test(namespace));
  return isPossible && kind.length <= longestKind && uid.length <= longestUid ? event : undefined;
}

type Extra = Config['extraReasons'];
type Found = Pick<Signal, 'class' | 'cause'>;

/** What somebody asked for by its reason is taken as they said, Warning or not. */
function ofOwnReasons({ reason }: EventView, extra: Extra): Found | undefined {
  const found = extra.find((one) => one.reason === reason);
  return found && { class: found.class };
}

const ofTable = (event: EventView): Found | undefined =>
  event.type === 'Warning' || isNormalFailure(event) ? rowOf(event.reason)?.rule?.(event) : undefined;

/** Events about a Node are kept in the namespace default, which has nothing to do with it. */
const isClusterWide = (kind: string): boolean => isKnownKind(kind) && !resources[kind].namespaced;

/** Pure. undefined: not a failure that tapfix knows; unknown reasons are never guessed. */
export function detectEvent(event: EventView, extra: Extra = []): Signal | undefined {
  const found = ofOwnReasons(event, extra) ?? ofTable(event);
  if (!found) return undefined;
  const { kind, name, uid, namespace } = event.object;
  const where = isClusterWide(kind) ? '' : namespace;
  const { reason, message, lastSeenMs: saidAtMs } = event;
  return {
    ...found,
    namespace: where,
    object: { kind, name, uid },
    reason,
    message,
    ...(saidAtMs > 0 && { saidAtMs }),
  };
}
