import { z } from 'zod';
import { objectName, uid } from '../kube/remediation.ts';
import type { PodTemplate } from '../kube/views.ts';
import { line } from '../lib/text.ts';
import { type Action, no } from './action.ts';
import { offLimits } from './ownership.ts';
import { wouldNotRollOut } from './rollout.ts';
import { createMemory, markedPatch, readMeant, refOf, targetGone } from './workload-patch.ts';

/** host:port/path:tag@digest, as defined by https://github.com/distribution/reference */
const host = '[A-Za-z0-9]+([.-]+[A-Za-z0-9]+)*(:[0-9]{1,5})?';
const word = '[a-z0-9]+((\\.|__?|-+)[a-z0-9]+)*';
const tag = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const digest = '[a-z0-9]+([+._-][a-z0-9]+)*:[0-9a-fA-F]{32,128}';
const imageReference = new RegExp(`^(${host}/)?${word}(/${word})*(:${tag})?(@${digest})?$`);

const params = z.strictObject({
  name: objectName,
  uid,
  container: z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
  image: z.string().min(1).max(512).regex(imageReference),
});
type Params = z.infer<typeof params>;

const targetOf = ({ name, uid }: Params) => ({ kind: 'Deployment' as const, name, uid });

interface Found {
  path: string;
  image: string | undefined;
}

/**
 * The position of the container. Its name is unique among both kinds. A container that does not exist is never added.
 */
function find({ spec = {} }: PodTemplate, container: string): Found | undefined {
  for (const list of ['containers', 'initContainers'] as const) {
    const all = (spec[list] ?? []) as { name: string; image?: string }[];
    const at = all.findIndex(({ name }) => name === container);
    if (at >= 0) return { path: `/spec/template/spec/${list}/${at}`, image: all[at]?.image };
  }
  return undefined;
}

const memory = createMemory<Params>(targetOf, ({ spec }, { container }) => {
  const image = find(spec.template, container)?.image ?? null;
  return { exactly: { container, image }, readable: { container, image: line(image ?? '', 512) } };
});

/** The API server accepts any text as an image, and this one will be copied into a shell. */
const quoted = (text: string): string =>
  /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

export const patchDeploymentImage: Action<Params> = {
  type: 'PatchDeploymentImage',
  block: 'patchDeploymentImage',
  params,
  role: 'tapfix-writer-workloads',
  rights: [{ group: 'apps', resource: 'deployments', verb: 'patch', owns: ['template'] }],
  noun: 'image change',
  target: targetOf,
  summary: ({ name, container, image }) => `set the image of container ${container} in ${name} to ${image}`,
  consequence: ({ name, container }) => `change the image of ${container} in ${name}`,
  inspect: memory.inspect,
  snapshot: memory.snapshot,

  async prepare(params, context) {
    const { name, container, image } = params;
    const target = targetOf(params);
    const live = await readMeant(target, context);
    if (!live) return targetGone(target);
    const refusal = wouldNotRollOut(target, live, 'another image') ?? offLimits(`Deployment ${name}`, live.metadata);
    if (refusal) return refusal;
    const found = find(live.spec.template, container);
    if (!found) return no('UnknownContainer', `Deployment ${name} has no container ${container}; none is added.`);
    if (found.image === image) return no('AlreadyThere', `Container ${container} of ${name} already has this image.`);
    const from = line(found.image ?? '', 512);
    return {
      ok: true,
      targetHash: memory.hashed(live, params),
      before: memory.remember(live, params),
      diff: `${container} image  ${from || '(none)'} → ${image}`,
      undo: `kubectl -n ${context.namespace} set image deploy/${name} ${container}=${quoted(from)}`,
      write: {
        do: 'patch',
        ref: refOf(target, context.namespace),
        body: markedPatch(live, [{ op: 'add', path: `${found.path}/image`, value: image }], context.fixUid),
      },
      blocked: [],
    };
  },
};
