import { editsApart } from '../../lib/edits.ts';
import { splitImage } from './image-name.ts';

/** An image that runs, and in what. */
export interface InUse {
  image: string;
  workload: string;
}

/** A mistyped name is not further away. */
const mostEdits = 2;

/** Pure. The one most like it: another tag of the same repository, else what is a letter or two away. Only ever a hint. */
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
