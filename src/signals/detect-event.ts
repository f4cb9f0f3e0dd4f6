import type { Config } from '../config/schema.ts';
import type { EventView } from '../kube/views.ts';
import { isKnownKind, resources } from '../kube/resources.ts';
import { isNormalFailure, rowOf } from './reasons.ts';
import type { Signal } from './signal.ts';

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
  return { ...found, namespace: where, object: { kind, name, uid }, reason: event.reason, message: event.message };
}
