/** The cluster's own namespaces. Nothing is ever changed there, and they are watched only when named literally. */
export const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease'];

export const isAlwaysOut = (namespace: string, ownNamespace: string): boolean =>
  namespace === ownNamespace || systemNamespaces.includes(namespace);
