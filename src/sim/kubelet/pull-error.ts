const registryOf = (image: string): string =>
  /^[^/]*[.:][^/]*\//.test(image) ? image.split('/')[0]! : 'registry.example';

/** What a registry's "no such tag" becomes on its way through containerd. */
export const pullError = (image: string): string => {
  const [, path = image, tag = 'latest'] = /^(.*?)(?::([^:/]+))?$/.exec(image) ?? [];
  const registry = registryOf(image);
  const name = path.startsWith(`${registry}/`) ? path.slice(registry.length + 1) : path;
  const asked = `Head "https://${registry}/v2/${name}/manifests/${tag}"`;
  return `failed to pull and unpack image "${image}": failed to resolve image: ${asked}: not found`;
};
