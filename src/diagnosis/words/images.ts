import { splitImage } from '../../lib/image.ts';
import { editsApart, line, none, step } from '../../lib/text.ts';

/** "1.41 → 1.42" when only the tag differs, else both in full. */
export function imageStep(before: string, after: string): string {
  const [was, is] = [splitImage(before), splitImage(after)];
  return was.repository === is.repository && was.tag && is.tag
    ? step(was.tag, is.tag)
    : step(before || none, after || none);
}

/** The registry it is pulled from. Without a dot or a port, the first part of a name is not a host. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost') ? first : 'docker.io';
}

/** An image that runs, and the workload that uses it. */
export interface InUse {
  image: string;
  workload: string;
}

/** A mistyped name differs by no more than this. */
const mostEdits = 2;

/**
 * Pure. The most similar image: another tag of the same repository, else one that differs by a letter or two. Only ever
 * a hint.
 */
export function closestImage(image: string, inUse: readonly InUse[]): InUse | undefined {
  const { repository, tag } = splitImage(image);
  const others = inUse.filter((one) => one.image !== image);
  const tags = others.filter((one) => splitImage(one.image).repository === repository && splitImage(one.image).tag);
  const closest = nearest(tags, (one) => editsApart(tag, splitImage(one.image).tag));
  return (
    closest ??
    nearest(
      others.filter((one) => editsApart(image, one.image) <= mostEdits),
      (one) => editsApart(image, one.image),
    )
  );
}

const nearest = (some: readonly InUse[], apart: (one: InUse) => number): InUse | undefined =>
  [...some].sort(
    (a, b) => apart(a) - apart(b) || (`${b.image} ${b.workload}` < `${a.image} ${a.workload}` ? -1 : 1),
  )[0];

type Rule = [RegExp, (image: string, match: RegExpExecArray) => string];

/** Messages of container runtimes and registries, the most specific first: one message often holds several. */
const rules: readonly Rule[] = [
  [
    /InvalidImageName|couldn't parse image (?:reference|name)|invalid reference format/i,
    (image) => `"${image}" is not a valid image name`,
  ],
  [
    /ErrImageNeverPull|not present with pull policy of Never/i,
    (image) => `image ${image} is not on the node, and its pull policy is Never`,
  ],
  [/signature validation failed|SignatureValidationFailed/i, (image) => `the signature of image ${image} is not valid`],
  [
    /toomanyrequests|429 Too Many Requests|rate limit/i,
    (image) => `image ${image}: registry ${registryOf(image)} allows no more pulls at the moment (rate limit)`,
  ],
  [
    /no match(?:ing manifest)? for (?:platform|[a-z0-9]+\/[a-z0-9]+)/i,
    (image) => `image ${image} has no build for this node's platform`,
  ],
  [/no space left on device/i, (image) => `the node has no disk space left for image ${image}`],
  [
    /x509|certificate (?:signed by|is not|has expired)|http: server gave HTTP response to HTTPS client/i,
    (image) => `image ${image}: the connection to registry ${registryOf(image)} is not trusted (TLS)`,
  ],
  [
    /pull access denied|repository does not exist or may require|insufficient_scope/i,
    (image) => `image ${image} does not exist, or may not be pulled without another login`,
  ],
  [
    /\b401\b|\b403\b|unauthori[sz]ed|authentication required|no basic auth credentials|access (?:to the resource is )?denied|permission[_ ]denied|\bdenied:/i,
    (image) => `image ${image}: registry ${registryOf(image)} does not let this cluster pull it (not authorised)`,
  ],
  [
    /manifest unknown|manifest for \S+ not found|name unknown|repository \S+ not found|: not found\b|\b404\b/i,
    (image) =>
      image.startsWith(`${registryOf(image)}/`)
        ? `image ${image} not found`
        : `image ${image} not found; it was looked for in ${registryOf(image)}`,
  ],
  [
    /no such host|server misbehaving/i,
    (image) => `image ${image}: registry ${registryOf(image)} cannot be found (no such host)`,
  ],
  [/connection refused/i, (image) => `image ${image}: ${registryOf(image)} refuses the connection`],
  [
    /i\/o timeout|deadline exceeded|TLS handshake timeout|request canceled|no route to host|network is unreachable|connection reset/i,
    (image) => `image ${image}: ${registryOf(image)} times out`,
  ],
  [
    /registry is unavailable|RegistryUnavailable|\b50[0234]\b/i,
    (image) => `image ${image}: registry ${registryOf(image)} is out of order`,
  ],
];

/** The text before the registry's own message. */
const preamble =
  /^(?:Back-off pulling image "[^"]*"(?:: )?|ErrImagePull: |Failed to pull image "[^"]*": |rpc error: code = \w+ desc = |failed to pull and unpack image "[^"]*": )+/;

/** Whether the message says more than that the pull is pending. */
export const saysWhy = (message: string): boolean => message.replace(preamble, '').trim() !== '';

/** Pure. Why an image cannot be pulled, in plain words, or in the registry's own words if these are not known. */
export function pullFailureInWords(image: string, reason: string, message: string): string {
  const said = `${reason}: ${message}`.replaceAll(image, ''); // its name may contain any of these words
  for (const [pattern, words] of rules) {
    const match = pattern.exec(said);
    if (match) return words(image, match);
  }
  const own = line(message.replace(preamble, ''), 200);
  return own ? `image ${image} cannot be pulled: ${own}` : `image ${image} cannot be pulled`;
}
