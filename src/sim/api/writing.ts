import { sameValue } from '../../lib/hash.ts';
import { apiVersionOf, hasStatus, type KindRow } from '../kinds/kinds.ts';
import {
  alreadyExists,
  badRequest,
  type FieldProblem,
  internal,
  invalid,
  modified,
  notFound,
  problem,
} from './http-refusals.ts';
import { withLimitDefaults } from './limit-ranges.ts';
import { recordWriter } from './managed-fields.ts';
import {
  checkMetadata,
  checkMetadataChange,
  checkName,
  generateName,
  keepServersOwn,
  newUid,
  tidy,
} from './metadata.ts';
import {
  type Meta,
  type Obj,
  type RequestTarget,
  type ServerCore,
  stamp,
  type Tree,
  tree,
  withoutNulls,
  type WriteSettings,
} from './model.ts';

const subjectOf = ({ kind, group }: KindRow, name: string) => ({ kind, group, name });

function mustBeValid(row: KindRow, { metadata }: Obj, problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw invalid(subjectOf(row, metadata.name ?? ''), problems);
}

/** Builds an object of the row's kind. The caller passes checked metadata; the metadata in `asked` is not used. */
function objectOf(row: KindRow, asked: Tree, metadata: Meta): Obj {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...content } = asked;
  const clean = row.custom ? content : withoutNulls(content);
  return { kind: row.kind, apiVersion: apiVersionOf(row), metadata, ...clean } as Obj;
}

/** Creates an object: a POST to a collection. */
export function create(core: ServerCore, { row, namespace }: RequestTarget, asked: Tree, options: WriteSettings): Obj {
  const wanted = tidy(tree(asked['metadata'])) as Partial<Meta>;
  if (wanted.namespace !== undefined && wanted.namespace !== namespace) throw otherNamespace();
  if (wanted.resourceVersion) throw internal('resourceVersion should not be set on objects to be created');
  const name = wanted.name || (wanted.generateName && generateName(wanted.generateName, core.random)) || '';
  const { managedFields: _books, deletionTimestamp: _deleted, deletionGracePeriodSeconds: _grace, ...free } = wanted;
  const metadata = tidy({
    ...free,
    name,
    namespace: namespace ?? '',
    uid: newUid(core.random),
    creationTimestamp: stamp(core.clock.now()),
    ...(row.generation && { generation: 1 }),
  });
  const bare = objectOf(row, hasStatus(row) && !row.bornWithStatus ? withoutStatus(asked) : asked, metadata);
  const object = withLimitDefaults(core, row, withDefaults(row, row.rules.born?.(bare) ?? bare));
  core.admit(row, object, 'before it is checked');
  const named = name
    ? checkName(name, row)
    : [problem('metadata.name', 'Required', 'name or generateName is required')];
  mustBeValid(row, object, [...named, ...checkMetadata(object), ...(row.rules.check?.(object) ?? [])]);
  core.admit(row, object, 'when it is known to be valid');
  if (core.store.get(row, namespace, name)) throw alreadyExists(row, name);
  const recorded = signed(core, row, undefined, object, options, '');
  return options.dryRun ? recorded : core.store.put(row, recorded);
}

/** Changes an object: a PUT or a PATCH. `asked` is the whole object as it should become. */
export function change(
  core: ServerCore,
  target: RequestTarget,
  current: Obj,
  asked: Tree,
  options: WriteSettings,
): Obj {
  const { row, subresource = '' } = target;
  const wanted = tidy(tree(asked['metadata']));
  mustNameTheSame(target, wanted);
  mustBeCurrent(row, current, wanted.resourceVersion);
  const metadata = { ...keepServersOwn(wanted, current.metadata), resourceVersion: current.metadata.resourceVersion };
  const next =
    subresource === 'status' ? statusWrite(row, current, asked, metadata) : mainWrite(row, current, asked, metadata);
  // A write to a custom resource's status ignores all metadata on the real server, even a wrong uid.
  const isBlind = row.custom && subresource === 'status';
  mustBeValid(row, next, [
    ...(isBlind ? [] : checkMetadataChange(current.metadata, wanted)),
    ...checkMetadata(next),
    ...(row.rules.check?.(next) ?? []),
    ...(row.rules.checkChange?.(current, next) ?? []),
  ]);
  if (isSame(current, next)) return current;
  // A status write may also change an annotation, such as a Deployment's revision; that is no new generation.
  const generation = subresource === 'status' ? {} : generationOf(row, current, next);
  const counted = { ...next, metadata: { ...next.metadata, ...generation } };
  const recorded = signed(core, row, current, counted, options, subresource);
  if (options.dryRun) return recorded;
  if (!isReleased(recorded.metadata)) return core.store.put(row, recorded);
  core.store.remove(row, recorded);
  return recorded;
}

/** An object that was deleted goes away with its last finalizer. */
const isReleased = ({ deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] }: Meta): boolean =>
  deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0;

const mainWrite = (row: KindRow, current: Obj, asked: Tree, metadata: Meta): Obj =>
  withDefaults(
    row,
    hasStatus(row) ? withStatus(objectOf(row, asked, metadata), current.status) : objectOf(row, asked, metadata),
  );

/** A status write changes only the status of a custom resource; for other kinds the real server also takes some metadata. */
function statusWrite(row: KindRow, current: Obj, asked: Tree, metadata: Meta): Obj {
  const { labels } = current.metadata;
  const kept = row.custom ? current.metadata : row.kind === 'Deployment' ? tidy({ ...metadata, labels }) : metadata;
  const { status } = objectOf(row, asked, metadata);
  return withDefaults(row, withStatus({ ...current, metadata: kept }, status));
}

const withDefaults = (row: KindRow, object: Obj): Obj => row.rules.defaults?.(object) ?? object;
const withoutStatus = ({ status: _status, ...object }: Tree): Tree => object;
const withStatus = ({ status: _status, ...object }: Obj, status: Tree | undefined): Obj =>
  (status === undefined ? object : { ...object, status }) as Obj;

function isSame(a: Obj, b: Obj): boolean {
  const bare = ({ metadata: { managedFields: _books, ...metadata }, ...object }: Obj): Tree => ({
    ...object,
    metadata,
  });
  return sameValue(bare(a), bare(b));
}

function generationOf({ generation }: KindRow, before: Obj, after: Obj): { generation?: number } {
  if (!generation) return {};
  const isOther = !sameValue(before.spec, after.spec);
  const counts =
    generation === 'spec and annotations' && !sameValue(before.metadata.annotations, after.metadata.annotations);
  return { generation: (before.metadata.generation ?? 0) + (isOther || counts ? 1 : 0) };
}

function signed(
  core: ServerCore,
  row: KindRow,
  before: Obj | undefined,
  after: Obj,
  { manager }: WriteSettings,
  subresource: string,
): Obj {
  const writer = { manager, subresource, apiVersion: apiVersionOf(row), time: stamp(core.clock.now()) };
  return { ...after, metadata: tidy({ ...after.metadata, managedFields: recordWriter(before, after, writer) }) };
}

const otherNamespace = (): Error =>
  badRequest('the namespace of the provided object does not match the namespace sent on the request');

function mustNameTheSame({ namespace, name = '' }: RequestTarget, wanted: Meta): void {
  if (!wanted.name)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (wanted.name !== name)
    throw badRequest(`the name of the object (${wanted.name}) does not match the name on the URL (${name})`);
  if (wanted.namespace !== undefined && wanted.namespace !== namespace) throw otherNamespace();
}

function mustBeCurrent(row: KindRow, { metadata }: Obj, resourceVersion: string | undefined): void {
  if (!resourceVersion) return;
  if (!/^\d+$/.test(resourceVersion)) throw internal(`strconv.ParseUint: parsing "${resourceVersion}": invalid syntax`);
  if (resourceVersion !== metadata.resourceVersion) throw modified(row, metadata.name);
}

export function mustFind({ store }: ServerCore, { row, namespace, name = '' }: RequestTarget): Obj {
  const found = store.get(row, namespace, name);
  if (!found) throw notFound(row, name);
  return found;
}
