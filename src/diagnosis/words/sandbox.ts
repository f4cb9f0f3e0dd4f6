import { line } from '../../lib/text.ts';

/** Pure. Why a kubelet evicted a pod, in a few words. */
export function evictionInWords(message: string): string {
  const [, resource] = /The node was low on resource: ([\w-]+)/.exec(message) ?? [];
  const [, threshold, available] = /Threshold quantity: (\S+), available: (\S+?)\.?(?:\s|$)/.exec(message) ?? [];
  if (resource)
    return `the node was low on ${resource}${available ? ` (${available} left, it keeps ${threshold} free)` : ''}`;
  const [, condition] = /The node had condition: \[([^\]]+)\]/.exec(message) ?? [];
  if (condition) return `the node had ${condition}`;
  const [, container, limit] =
    /Container (\S+) exceeded its local ephemeral storage limit "([^"]+)"/.exec(message) ?? [];
  if (container) return `container ${container} wrote more than its limit of ${limit} to local disk`;
  const [, volume, size] = /Usage of EmptyDir volume "([^"]+)" exceeds the limit "([^"]+)"/.exec(message) ?? [];
  if (volume) return `its emptyDir volume ${volume} grew over its limit of ${size}`;
  const [, total] =
    /ephemeral local storage usage exceeds the total limit of containers (\S+?)\.?(?:\s|$)/.exec(message) ?? [];
  if (total) return `it wrote more than its limit of ${total} to local disk`;
  return line(message, 240);
}

/** Pure. Why a pod gets no sandbox, mostly because of its network. The plugin's own message is at the end. */
export function sandboxInWords(message: string): string {
  const said = message.replace(/^Failed to create pod sandbox: /, '').replace(/^rpc error: code = \w+ desc = /, '');
  const [, plugin, why] =
    /plugin type="?([^"\s]+)"?(?: name="?[^"\s]+"?)? failed \((?:add|ADD)\): ([\s\S]+)$/.exec(said) ?? [];
  if (plugin) return `the network plugin ${plugin} fails: ${line(why!, 240)}`;
  const [, network] = /failed to (?:setup|set up) network for sandbox "?[0-9a-f]*"?: ([\s\S]+)$/.exec(said) ?? [];
  if (network) return `the pod gets no network: ${line(network, 240)}`;
  const [, image] = /failed to (?:get|pull) (?:sandbox )?image "([^"]+)"/.exec(said) ?? [];
  if (image) return `the sandbox image ${image} is not on the node and cannot be pulled`;
  if (/no runtime for "([^"]+)" is configured/.test(said))
    return `the node has no container runtime "${/no runtime for "([^"]+)"/.exec(said)![1]}"`;
  return line(said, 300);
}

/** Pure. Why a container cannot be created, although everything that it refers to exists. */
export function creationInWords(container: string, message: string): string {
  if (/runAsNonRoot and image will run as root/.test(message))
    return `container ${container} may not run as root, and its image does`;
  if (/runAsNonRoot and image has non-numeric user/.test(message))
    return `container ${container} may not run as root, and its image does not say its user by number`;
  const [, file] = /exec: "([^"]+)": (?:executable file not found|stat [^:]+: no such file)/.exec(message) ?? [];
  if (file) return `container ${container} has no program ${line(file, 80)}`;
  const said = line(message.replace(/^rpc error: code = \w+ desc = /, ''), 240);
  return `container ${container} cannot be created${said ? `: ${said}` : ''}`;
}
