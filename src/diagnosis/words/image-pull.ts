import { line } from '../../lib/plain.ts';
import { registryOf } from './image-name.ts';

type Rule = [RegExp, (image: string, match: RegExpExecArray) => string];

/** What container runtimes and registries say, most telling first: one message often holds several. */
const rules: readonly Rule[] = [
  [/InvalidImageName|couldn't parse image (?:reference|name)|invalid reference format/i, (image) => `"${image}" is not a valid image name`],
  [/ErrImageNeverPull|not present with pull policy of Never/i, (image) => `image ${image} is not on the node, and its pull policy is Never`],
  [/signature validation failed|SignatureValidationFailed/i, (image) => `the signature of image ${image} is not valid`],
  [/toomanyrequests|429 Too Many Requests|rate limit/i, (image) => `image ${image}: registry ${registryOf(image)} allows no more pulls at the moment (rate limit)`],
  [/no match(?:ing manifest)? for (?:platform|[a-z0-9]+\/[a-z0-9]+)/i, (image) => `image ${image} has no build for this node's platform`],
  [/no space left on device/i, (image) => `the node has no disk space left for image ${image}`],
  [/x509|certificate (?:signed by|is not|has expired)|http: server gave HTTP response to HTTPS client/i, (image) => `image ${image}: the connection to registry ${registryOf(image)} is not trusted (TLS)`],
  [/pull access denied|repository does not exist or may require|insufficient_scope/i, (image) => `image ${image} does not exist, or may not be pulled without another login`],
  [/\b401\b|\b403\b|unauthori[sz]ed|authentication required|no basic auth credentials|access (?:to the resource is )?denied|permission[_ ]denied|\bdenied:/i, (image) => `image ${image}: registry ${registryOf(image)} does not let this cluster pull it (not authorised)`],
  [/manifest unknown|manifest for \S+ not found|name unknown|repository \S+ not found|: not found\b|\b404\b/i, (image) => `image ${image} does not exist in registry ${registryOf(image)}`],
  [/no such host|server misbehaving/i, (image) => `image ${image}: registry ${registryOf(image)} cannot be found (no such host)`],
  [/connection refused/i, (image) => `image ${image}: registry ${registryOf(image)} does not answer (connection refused)`],
  [/i\/o timeout|deadline exceeded|TLS handshake timeout|request canceled|no route to host|network is unreachable|connection reset/i, (image) => `image ${image}: registry ${registryOf(image)} does not answer (time-out)`],
  [/registry is unavailable|RegistryUnavailable|\b50[0234]\b/i, (image) => `image ${image}: registry ${registryOf(image)} is out of order`],
]; // prettier-ignore

/** What precedes the registry's own words. */
const preamble = /^(?:Back-off pulling image "[^"]*"(?:: )?|ErrImagePull: |Failed to pull image "[^"]*": |rpc error: code = \w+ desc = |failed to pull and unpack image "[^"]*": )+/; // prettier-ignore

/** Whether the message says more than that the pull is being waited for. */
export const saysWhy = (message: string): boolean => message.replace(preamble, '').trim() !== '';

/** Pure. Why an image is not there, in plain words; the registry's own where these are not known. */
export function pullFailureInWords(image: string, reason: string, message: string): string {
  const said = `${reason}: ${message}`.replaceAll(image, ''); // its name may hold any of these words
  for (const [pattern, words] of rules) {
    const match = pattern.exec(said);
    if (match) return words(image, match);
  }
  const own = line(message.replace(preamble, ''), 200);
  return own ? `image ${image} cannot be pulled: ${own}` : `image ${image} cannot be pulled`;
}
