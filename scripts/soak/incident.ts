import { setTimeout as sleep } from 'node:timers/promises';
import { isCleared, type Remediation } from '../../src/kube/remediation.ts';
import { type Books, faultsIn, type Post } from '../../test/faults/books.ts';
import type { Trouble } from '../../test/faults/plan.ts';
import { ada, comesTrue, orphans, type RealWorld } from '../../test/faults/real-world.ts';
import { breakIt, deployAll, healIt, isWell, keyOf } from '../../test/faults/scene.ts';

/** A half-open watch is given up after 90 s. */
const patienceMs = 300_000;
const decisionMs = 20_000;

/**
 * One workload from its first rollout to its end: healthy, broken, decided, mended, cleared and deleted. Returns what was
 * wrong in its books. `mayRepeat`: the vendor's answers were lost at times, so a message may have come twice.
 */
export async function oneIncident(world: RealWorld, trouble: Trouble, mayRepeat: () => boolean): Promise<string[]> {
  const { api, telegram, fixes, notices, executions } = world;
  const key = keyOf(trouble);
  const chain = (): Remediation[] => fixes().filter(({ spec }) => spec.incident.key === key);
  const isPosted = (): boolean => {
    const uids = chain().map(({ metadata }) => metadata.uid);
    return notices().some(({ spec, status }) => status?.message && spec.members.some(({ uid }) => uids.includes(uid)));
  };
  await deployAll(api, [trouble]);
  if (!(await comesTrue(() => isWell(api, trouble), patienceMs))) return [`${key} never became healthy`];
  await sleep(5_000); // seen healthy
  await breakIt(api, trouble);
  if (!(await comesTrue(isPosted, patienceMs))) return [`${key} was broken, and nothing was posted`];
  if (trouble.decision !== 'nobody') await comesTrue(pressed, decisionMs);
  if (trouble.decision === 'approve') await comesTrue(() => isWell(api, trouble), decisionMs);
  if (!(await isWell(api, trouble))) await healIt(api, trouble);
  const isOver = (): boolean =>
    chain().every(isCleared) &&
    world.bindings().every((name) => !chain().some(({ metadata }) => name.includes(metadata.uid)));
  await comesTrue(isOver, patienceMs);
  const wrong = faultsIn(booksOf());
  const { namespace, name } = trouble;
  await api.delete({ kind: 'Deployment', namespace, name });
  return wrong;

  async function pressed(): Promise<boolean> {
    const fix = chain().at(-1);
    if (!fix || fix.spec.approval.state !== 'Pending') return true;
    const button = world.button(fix, trouble.decision === 'approve' ? /^(Approve|Yes)/ : /^Reject/);
    if (button) telegram.press(button.data, { from: ada, message: button.message });
    await sleep(2_000);
    return false;
  }

  /** The books of this incident alone. */
  function booksOf(): Books {
    const own = chain();
    const uids = own.map(({ metadata }) => metadata.uid);
    const about = notices().filter(({ spec }) => spec.members.some(({ uid }) => uids.includes(uid)));
    const again = orphans(telegram.messages(), notices()).filter(({ text }) =>
      new RegExp(`\\b${trouble.name}\\b`).test(text),
    );
    const posts = about.flatMap(({ metadata, spec, status }): Post[] => {
      const post = { notice: metadata.name, form: spec.form, by: 'the watcher', known: false };
      const before = spec.form === 'card' ? again.map(() => ({ ...post, unheard: mayRepeat() })) : [];
      return status?.message ? [...before, { ...post, unheard: false }] : before;
    });
    return {
      incidents: [{ key, decision: trouble.decision }],
      fixes: own,
      notices: about,
      posts,
      executions: executions.filter(({ name }) => name === trouble.name),
      bindings: world.bindings().filter((name) => uids.some((uid) => name.includes(uid))),
      wrong: [],
    };
  }
}
