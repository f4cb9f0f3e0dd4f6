import { z } from 'zod';
import { globMatches } from '../lib/glob.ts';

/** Where mutes live, in tapfix's own namespace: the only ConfigMap that the watcher writes. */
export const mutesName = 'tapfix-mutes';
export const mutesKey = 'mutes';

const muteSchema = z.object({
  /** Of a namespace, or with a slash in it of a namespace and a name: "shop-*", "shop/checkout*". */
  glob: z.string().min(1).max(253),
  until: z.iso.datetime(),
  by: z.string().max(256).optional(),
});
export type Mute = z.infer<typeof muteSchema>;

/** More than anybody would look through; the one that would end first goes. */
const mostMutes = 100;

export const isMuted = (globs: readonly string[], { namespace, name }: { namespace: string; name: string }): boolean =>
  globs.some((glob) => globMatches(glob, glob.includes('/') ? `${namespace}/${name}` : namespace));

/** Those that are not over. What is not one, somebody wrote by hand: it mutes nothing. */
export function mutesIn(text: string | undefined, nowMs: number): Mute[] {
  try {
    const all = z.array(z.unknown()).parse(JSON.parse(text ?? '[]'));
    const mutes = all.flatMap((one) => muteSchema.safeParse(one).data ?? []);
    return mutes.filter(({ until }) => Date.parse(until) > nowMs);
  } catch {
    return [];
  }
}

/** With this one: instead of an earlier one of the same glob; one that ends at once only takes that away. */
export function withMute(mutes: readonly Mute[], mute: Mute, nowMs: number): Mute[] {
  const others = mutes.filter(({ glob }) => glob !== mute.glob);
  const all = Date.parse(mute.until) > nowMs ? [...others, mute] : others;
  return all.sort((a, b) => Date.parse(a.until) - Date.parse(b.until)).slice(-mostMutes);
}
