interface ImageName {
  /** "registry:5000/shop/web" */
  repository: string;
  /** Empty if there is none, or a digest instead. */
  tag: string;
}

/** A colon after the last slash starts a tag; before it, a port. A digest is part of the name. */
export function splitImage(image: string): ImageName {
  const at = image.lastIndexOf(':');
  const hasTag = at > image.lastIndexOf('/') && !image.includes('@');
  return hasTag ? { repository: image.slice(0, at), tag: image.slice(at + 1) } : { repository: image, tag: '' };
}

/** "web:1.41" of "registry:5000/shop/web:1.41": what tells two images of one workload apart. */
export const shortImage = (image: string): string => image.slice(image.lastIndexOf('/') + 1);
