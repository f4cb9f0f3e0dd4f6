import { line } from '../../lib/text.ts';

/** The pod's requests, by resource, as a person wrote them: "cpu" to "4". */
export type Asks = ReadonlyMap<string, string>;

/** One reason and how many nodes have it; without a number it concerns the pod as a whole. */
interface Reason {
  nodes?: number;
  text: string;
}

/** The words of a reason after "3 ", with a plural where it differs. */
type Phrase = (nodes: number, asks: Asks, match: RegExpExecArray) => string;

const has =
  (one: string): Phrase =>
  (nodes) =>
    `${nodes === 1 ? 'has' : 'have'} ${one}`;
const is =
  (one: string): Phrase =>
  (nodes) =>
    `${nodes === 1 ? 'is' : 'are'} ${one}`;
const does =
  (one: string, many: string): Phrase =>
  (nodes) =>
    nodes === 1 ? one : many;

const tooLittle: Phrase = (nodes, asks, [, resource = '']) => {
  const asked = asks.get(resource);
  return `${nodes === 1 ? 'lacks' : 'lack'} ${resource}${asked ? ` (needs ${asked})` : ''}`;
};

/** Taints that Kubernetes itself sets describe the state of a node. */
const conditions: Readonly<Record<string, Phrase>> = {
  'node.kubernetes.io/not-ready': is('not ready'),
  'node.kubernetes.io/unreachable': is('out of reach'),
  'node.kubernetes.io/disk-pressure': is('short of disk'),
  'node.kubernetes.io/memory-pressure': is('short of memory'),
  'node.kubernetes.io/pid-pressure': is('short of process ids'),
  'node.kubernetes.io/network-unavailable': does('has no network', 'have no network'),
  'node.kubernetes.io/unschedulable': is('cordoned'),
  'node.cloudprovider.kubernetes.io/uninitialized': is('not initialised by the cloud provider yet'),
  'node-role.kubernetes.io/control-plane': does('is a control plane node', 'are control plane nodes'),
  'node-role.kubernetes.io/master': does('is a control plane node', 'are control plane nodes'),
};

/** "taint gpu", "taint dedicated=batch" */
const taint: Phrase = (nodes, asks, match) => {
  const [, key = '', value = ''] = match;
  const known = Object.hasOwn(conditions, key) ? conditions[key] : undefined;
  if (known) return known(nodes, asks, match);
  const shown = value && value !== 'true' ? `${key}=${value}` : key;
  return `${nodes === 1 ? 'has' : 'have'} taint ${shown}`;
};

/** Messages of several scheduler versions, mostly v1.36: pkg/scheduler/framework/plugins of Kubernetes. */
const phrases: readonly [RegExp, Phrase][] = [
  [/^Insufficient (\S+)$/, tooLittle],
  [/^Too many pods$/, does('has all the pods it may', 'have all the pods they may')],
  [/^node\(s\) had (?:untolerated )?taint \{([^:}]*): ?([^}]*)\}$/, taint],
  [/^node\(s\) had untolerated taint\(s\)$/, has('taints that the pod does not tolerate')],
  [/^node\(s\) had taints that the pod didn't tolerate$/, has('taints that the pod does not tolerate')],
  [/^node\(s\) were unschedulable$/, is('cordoned')],
  [/^node\(s\) were not ready$/, is('not ready')],
  [
    /^node\(s\) didn't match (?:Pod's node affinity(?:\/selector)?|node affinity|node selector)$/,
    does("does not match the pod's node selector", "do not match the pod's node selector"),
  ],
  [
    /^node\(s\) didn't (?:match|satisfy existing pods) (?:pod )?anti-affinity rules$/,
    does('has a pod that it must not stand beside', 'have pods that it must not stand beside'),
  ],
  [
    /^node\(s\) didn't match pod affinity\/anti-affinity(?: rules)?$/,
    does('does not match its pod affinity', 'do not match its pod affinity'),
  ],
  [
    /^node\(s\) didn't match pod affinity rules$/,
    does('lacks the pods that it wants to stand beside', 'lack the pods that it wants to stand beside'),
  ],
  [
    /^node\(s\) didn't match pod topology spread constraints(?: \(missing required label\))?$/,
    does('would break its topology spread', 'would break its topology spread'),
  ],
  [
    /^node\(s\) didn't have free ports for the requested pod ports$/,
    does('has its host port in use', 'have its host port in use'),
  ],
  [/^node\(s\) didn't match the requested (?:node name|hostname)$/, is('not the node that it names')],
  [
    /^node\(s\) (?:had volume node affinity conflict|didn't match PersistentVolume's node affinity)$/,
    does('cannot reach its volume', 'cannot reach its volume'),
  ],
  [/^node\(s\) had no available volume zone$/, is('in another zone than its volume')],
  [/^node\(s\) exceed max volume count$/, has('all the volumes allowed')],
  [/^node\(s\) had no available disk$/, does('has its disk in use', 'have its disk in use')],
  [
    /^node\(s\) unavailable due to PersistentVolumeClaim with ReadWriteOncePod .*$/,
    does('cannot have its volume: another pod uses it', 'cannot have its volume: another pod uses it'),
  ],
  [/^node\(s\) did not have enough free storage$/, has('too little free storage')],
  [/^node\(s\) didn't find available persistent volumes to bind$/, has('no volume for its claim')],
];

/** Reasons about the pod, not about nodes. */
const general: readonly [RegExp, (match: RegExpExecArray) => string][] = [
  [/^pod has unbound immediate PersistentVolumeClaims$/, () => 'its volume claim is not bound yet'],
  [
    /^node\(s\) unavailable due to one or more pvc\(s\) bound to non-existent pv\(s\)$/,
    () => 'the volume of its claim is gone',
  ],
  [/^persistentvolumeclaim "([^"]+)" not found$/, ([, name]) => `its volume claim ${name} does not exist`],
  [/^persistentvolumeclaim "([^"]+)" is being deleted$/, ([, name]) => `its volume claim ${name} is being deleted`],
  [
    /^persistentvolumeclaim "([^"]+)" bound to non-existent persistentvolume "([^"]+)"$/,
    ([, claim, volume]) => `the volume ${volume} of its claim ${claim} is gone`,
  ],
  [
    /^waiting for ephemeral volume controller to create the persistentvolumeclaim "([^"]+)"$/,
    ([, name]) => `its volume claim ${name} is not made yet`,
  ],
];

/**
 * Pure. "0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint {gpu: true}. preemption: ..."
 * becomes "no node fits: 3 of 5 lack cpu (needs 4); 2 of 5 nodes have taint gpu". An unknown reason keeps the scheduler's words.
 */
export function schedulerInWords(message: string, asks: Asks = new Map()): string {
  const [, all, said] = /^0\/(\d+) nodes are available:\s*([\s\S]*)$/.exec(message.trim()) ?? [];
  if (message.startsWith('no nodes available to schedule pods')) return 'the cluster has no node for pods';
  if (all === undefined || said === undefined) return line(message, 400);
  const reasons = reasonsIn(said);
  const ofPod = reasons.flatMap(({ nodes, text }) => (nodes === undefined ? [ofPodInWords(text)] : []));
  return line([...ofPod, ...together(Number(all), reasons, asks)].join('; '), 400) || line(message, 400);
}

/** "no node fits: 3 of 5 lack ...; 2 of 5 have ..."; a reason that all of them have is stated once for all. */
function together(all: number, reasons: readonly Reason[], asks: Asks): string[] {
  const ofNodes = reasons.filter(({ nodes }) => nodes !== undefined);
  const [first, ...others] = ofNodes.map((reason) => ofNodesInWords(reason, asks));
  if (!first) return [];
  const [{ nodes, text } = { nodes: 0, text: '' }] = ofNodes;
  const isVerbatim = first === `${nodes} ${text}`;
  const isOfAll = others.length === 0 && nodes === all && !isVerbatim;
  if (isOfAll)
    return [first.replace(/^\d+ /, all === 1 ? 'the only node ' : all === 2 ? 'both nodes ' : `all ${all} nodes `)];
  const ofAll = (words: string, what = ''): string =>
    words.replace(/^\d+(?= )/, (count) => `${count} of ${all}${what}`);
  return [`no node fits: ${ofAll(first)}`, ...others.map((words) => ofAll(words, ' nodes'))];
}

/**
 * Only the first sentence: the rest says whether preempting other pods would help. A taint has dots, but no space after
 * them.
 */
function reasonsIn(said: string): Reason[] {
  const [own = ''] = said.split(/\.(?:\s|$)/);
  return own
    .replaceAll(", that the pod didn't tolerate", '')
    .split(/, (?=\d+ )/)
    .filter(Boolean)
    .map((text) => {
      const [, nodes, words] = /^(\d+) ([\s\S]+)$/.exec(text) ?? [];
      return nodes === undefined ? { text } : { nodes: Number(nodes), text: words! };
    });
}

function ofNodesInWords({ nodes = 0, text }: Reason, asks: Asks): string {
  for (const [pattern, phrase] of phrases) {
    const match = pattern.exec(text);
    if (match) return `${nodes} ${phrase(nodes, asks, match)}`;
  }
  const whole = ofPodInWords(text);
  return whole === text ? `${nodes} ${text}` : whole;
}

function ofPodInWords(text: string): string {
  for (const [pattern, words] of general) {
    const match = pattern.exec(text);
    if (match) return words(match);
  }
  return text;
}
