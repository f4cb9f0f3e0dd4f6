import { none, step } from './change.ts';

export interface ImageName {
  /** "registry:5000/shop/web" */
  repository: string;
  /** Empty when there is none, or a digest instead. */
  tag: string;
}

/** A colon after the last slash is a tag; before it, a port. A digest is part of the name. */
export function splitImage(image: string): ImageName {
  const at = image.lastIndexOf(':');
  const hasTag = at > image.lastIndexOf('/') && !image.includes('@');
  return hasTag ? { repository: image.slice(0, at), tag: image.slice(at + 1) } : { repository: image, tag: '' };
}

/** "1.41 → 1.42" when only the tag differs, else both in full. */
export function imageStep(before: string, after: string): string {
  const [was, is] = [splitImage(before), splitImage(after)];
  return was.repository === is.repository && was.tag && is.tag
    ? step(was.tag, is.tag)
    : step(before || none, after || none);
}

/** Where it is pulled from: without a dot or a port the first part of a name is no host. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost') ? first : 'docker.io';
}
