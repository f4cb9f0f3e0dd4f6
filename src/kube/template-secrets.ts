import { hidden, redact } from '../lib/redact.ts';
import type { PodTemplate } from './views.ts';

/*
 * Which texts of a pod template may be read by people who may not read the template itself: a diff goes to a chat, a
 * snapshot into a Remediation. A text is decided by its position, because a password looks like any other word. Only
 * positions that hold names, references and words of Kubernetes itself are readable; a field that is unknown here, or
 * new in Kubernetes, is not.
 */

/** The steps from the template to a value: spec, containers, 0, env, 2, value. */
export type Position = readonly string[];

/** Everything below these fields is free text of people: passwords, tokens, connection strings. */
const closed: ReadonlySet<string> = new Set(['annotations', 'args', 'command', 'volumeAttributes']);

/** Maps with keys of people's own, whose values are names and amounts. */
const openMaps: ReadonlySet<string> = new Set(['labels', 'matchLabels', 'nodeSelector', 'limits', 'requests']);

/** Lists of a name and a value that are settings, never secrets. In every other list a `value` is closed. */
const settings: ReadonlySet<string> = new Set(['tolerations', 'sysctls', 'dnsConfig']);

/** Fields that hold a name, a reference, an amount or one of a few words, wherever in the template they are. */
const readable: ReadonlySet<string> = new Set(
  `
  name namespace kind apiVersion apiGroup
  image imagePullPolicy restartPolicy workingDir terminationMessagePath terminationMessagePolicy stopSignal
  protocol hostIP port host scheme path service
  key fieldPath resource divisor containerName prefix request resourceName policy
  mountPath subPath subPathExpr mountPropagation recursiveReadOnly devicePath
  dnsPolicy serviceAccountName serviceAccount nodeName hostname subdomain hostnames ip nameservers searches
  schedulerName priorityClassName runtimeClassName preemptionPolicy conditionType
  operator values effect topologyKey whenUnsatisfiable nodeAffinityPolicy nodeTaintsPolicy namespaces
  matchLabelKeys mismatchLabelKeys resourceClaimName resourceClaimTemplateName
  add drop type level role user localhostProfile procMount gmsaCredentialSpecName runAsUserName
  fsGroupChangePolicy supplementalGroupsPolicy seLinuxChangePolicy
  medium sizeLimit claimName secretName audience driver fsType server volumeID pdName pool monitors
  targetPortal iqn shareName revision directory reference pullPolicy
  storageClassName volumeMode volumeName accessModes volumeAttributesClassName signerName keyType
  `
    .trim()
    .split(/\s+/),
);

/** Set by `kubectl rollout restart`. Its value is a time, and is shown if it is one. */
export const restartedAt = 'kubectl.kubernetes.io/restartedAt';
export const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text);

const isIndex = (step: string): boolean => /^\d+$/.test(step);

function isReadable(at: Position, value: string): boolean {
  const key = at.findLast((step) => !isIndex(step)) ?? '';
  const parent = at.at(-2) ?? '';
  if (parent === 'annotations' && key === restartedAt) return isTime(value);
  if (at.some((step, index) => closed.has(step) || (step === 'options' && at[index - 1] === 'flexVolume')))
    return false;
  if (openMaps.has(parent)) return true;
  if (key === 'value') return at.some((step) => settings.has(step));
  return readable.has(key);
}

/** The path of a probe or a hook is readable, its query is not. */
const withoutQuery = (at: Position, value: string): string =>
  at.at(-1) === 'path' && at.at(-2) === 'httpGet' ? value.replace(/\?.+$/s, `?${hidden}`) : value;

/**
 * The value as people may read it; undefined if nothing of it may be read. A number or a switch is no secret, unless it
 * is where people write free text.
 */
export function legibleAt(at: Position, value: unknown): string | undefined {
  const text = String(value);
  const isText = typeof value === 'string' || at.some((step) => closed.has(step));
  if (!isText) return text;
  return isReadable(at, text) ? redact(withoutQuery(at, text)) : undefined;
}

/** The same template for people to read. All keys and positions stay, so it still shows what there is. */
export function withoutSecrets(template: PodTemplate): PodTemplate {
  const legible = (value: unknown, at: Position): unknown => {
    if (value === null || value === undefined) return value;
    if (Array.isArray(value)) return value.map((item, index) => legible(item, [...at, String(index)]));
    if (typeof value === 'object')
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, legible(inner, [...at, key])]));
    const text = legibleAt(at, value);
    return text === String(value) ? value : (text ?? '(hidden)');
  };
  return legible(template, []) as PodTemplate;
}
