const registry = String.raw`(?:[a-z0-9]+(?:(?:\.|-+)[a-z0-9]+)*|\[[0-9a-f:]+\])(?::\d{1,5})?`;
const part = String.raw`[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*`;
const tag = String.raw`[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}`;

/** As the kubelet reads it: https://github.com/distribution/reference/blob/main/reference.go, with sha256 alone. */
const image = new RegExp(`^(?:${registry}/)?${part}(?:/${part})*(?::${tag})?(?:@sha256:[0-9a-f]{64})?$`);

/** Whether a node could pull something of this name. */
export const isImage = (name: string): boolean => image.test(name);
