import type { Remediation } from '../kube/remediation.ts';
import type { Dot } from './message.ts';
import { isUnderWay, needsSomebody, stillOpen } from './order.ts';
import { isShared, placeOf, readiness } from './subject.ts';

/* What only a message about several has to say: which is whose, and how they are all together. */

type Label = (fix: Remediation) => string;

const nameOf: Label = ({ spec }) => spec.incident.object.name;
const placed: Label = (fix) => [placeOf(fix), nameOf(fix)].filter(Boolean).join('/');
const whole: Label = (fix) => [placeOf(fix), fix.spec.incident.object.kind, nameOf(fix)].filter(Boolean).join('/');

const areDistinct = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

/** The one namespace that all of them are in; undefined when there are several. */
export function sharedNamespace(shown: readonly Remediation[]): string | undefined {
  const [first, ...others] = new Set(shown.map(placeOf));
  return others.length === 0 ? first : undefined;
}

/** How each is called on buttons and in the title: two teams may both have an "api". */
export function labelsFor(shown: readonly Remediation[]): Label {
  const ways = sharedNamespace(shown) === undefined ? [placed] : [nameOf, placed];
  return ways.find((label) => areDistinct(shown.map(label))) ?? whole;
}

/** Where they all are; where there are several namespaces each says its own. */
export const whereAll = (shown: readonly Remediation[], cluster: string): string =>
  [sharedNamespace(shown), cluster].filter(Boolean).join(' · ');

const mostNamed = 3;

/** The lock-screen line for all of them. */
export function titleOf(shown: readonly Remediation[], dots: readonly Dot[]): { dot: Dot; text: string } {
  const failing = shown.filter(needsSomebody);
  const underWay = shown.filter(isUnderWay);
  const namespace = sharedNamespace(shown);
  const where = namespace ? ` in ${namespace}` : '';
  const names = (some: readonly Remediation[]): string => namesOf(some, labelsFor(shown));
  if (failing.length === shown.length) {
    const what = shown.some(isShared) ? 'incidents' : 'workloads are failing';
    return { dot: worstOf(failing), text: `${shown.length} ${what}${where}: ${names(failing)}` };
  }
  if (failing.length > 0) {
    const text = `${failing.length} of ${shown.length} ${stillOpen(shown)}${where}: ${names(failing)}`;
    return { dot: worstOf(failing), text };
  }
  const dot = calmest.find((one) => dots.includes(one)) ?? 'grey';
  if (underWay.length === 0) return { dot, text: `All ${shown.length} are over${where}` };
  return { dot, text: `${underWay.length} of ${shown.length} being fixed${where}: ${names(underWay)}` };
}

/** What was broken when tapfix came, and how they all are by now. */
export function bootTitleOf(shown: readonly Remediation[]): { dot: Dot; text: string } {
  const what = shown.length === 1 ? '1 thing was' : `${shown.length} things were`;
  const label = labelsFor(shown);
  const others = shown.length > mostNamed ? ` and ${shown.length - mostNamed} more` : '';
  const names = `${shown.slice(0, mostNamed).map(label).join(', ')}${others}`;
  return { dot: 'grey', text: `tapfix started: ${what} already broken (${names})${sinceStart(shown)}` };
}

function sinceStart(shown: readonly Remediation[]): string {
  const failing = shown.filter(needsSomebody).length;
  const underWay = shown.filter(isUnderWay).length;
  if (failing === shown.length || shown.length === 1) return '';
  if (failing > 0) return `; ${failing} ${stillOpen(shown)}`;
  return underWay > 0 ? `; ${underWay} being fixed` : '; all are over';
}

export const worstOf = (failing: readonly Remediation[]): Dot =>
  failing.some(({ spec }) => spec.incident.severity === 'critical') ? 'red' : 'orange';

/** Where nobody is needed, the one that is least far. */
const calmest: readonly Dot[] = ['yellow', 'blue', 'green', 'grey'];

function namesOf(some: readonly Remediation[], label: Label): string {
  const names = some.slice(0, mostNamed).map((fix) => [label(fix), readiness(fix).replace(' ready', '')]);
  const others = some.length > mostNamed ? ` and ${some.length - mostNamed} more` : '';
  return `${names.map((parts) => parts.filter(Boolean).join(' ')).join(', ')}${others}`;
}
