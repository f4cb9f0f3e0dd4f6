import type { Remediation } from '../kube/remediation.ts';
import type { Dot } from './message.ts';
import { isUnderWay, needsSomebody } from './order.ts';
import { isQuota, readiness } from './subject.ts';

/* What only a message about several has to say: which is whose, and how they are all together. */

type Label = (fix: Remediation) => string;

const namespaceOf: Label = ({ metadata }) => metadata.namespace ?? '';
const nameOf: Label = ({ spec }) => spec.incident.object.name;
const placed: Label = (fix) => `${namespaceOf(fix)}/${nameOf(fix)}`;
const whole: Label = (fix) => `${namespaceOf(fix)}/${fix.spec.incident.object.kind}/${nameOf(fix)}`;

const areDistinct = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

/** The one namespace that all of them are in; undefined when there are several. */
export function sharedNamespace(shown: readonly Remediation[]): string | undefined {
  const [first, ...others] = new Set(shown.map(namespaceOf));
  return others.length === 0 ? first : undefined;
}

/** How each is called on buttons and in the title: two teams may both have an "api". */
export function labelsFor(shown: readonly Remediation[]): Label {
  const ways = sharedNamespace(shown) === undefined ? [placed] : [nameOf, placed];
  return ways.find((label) => areDistinct(shown.map(label))) ?? whole;
}

const mostNamed = 3;

/** The lock-screen line for all of them. */
export function titleOf(shown: readonly Remediation[], dots: readonly Dot[]): { dot: Dot; text: string } {
  const failing = shown.filter(needsSomebody);
  const underWay = shown.filter(isUnderWay);
  const namespace = sharedNamespace(shown);
  const where = namespace === undefined ? '' : ` in ${namespace}`;
  const names = (some: readonly Remediation[]): string => namesOf(some, labelsFor(shown));
  if (failing.length === shown.length) {
    const what = shown.some(isQuota) ? 'incidents' : 'workloads are failing';
    return { dot: worstOf(failing), text: `${shown.length} ${what}${where}: ${names(failing)}` };
  }
  if (failing.length > 0) {
    const text = `${failing.length} of ${shown.length} still failing${where}: ${names(failing)}`;
    return { dot: worstOf(failing), text };
  }
  const dot = calmest.find((one) => dots.includes(one)) ?? 'grey';
  if (underWay.length === 0) return { dot, text: `All ${shown.length} are over${where}` };
  return { dot, text: `${underWay.length} of ${shown.length} being fixed${where}: ${names(underWay)}` };
}

const worstOf = (failing: readonly Remediation[]): Dot =>
  failing.some(({ spec }) => spec.incident.severity === 'critical') ? 'red' : 'orange';

/** Where nobody is needed, the one that is least far. */
const calmest: readonly Dot[] = ['yellow', 'blue', 'green', 'grey'];

function namesOf(some: readonly Remediation[], label: Label): string {
  const names = some.slice(0, mostNamed).map((fix) => [label(fix), readiness(fix).replace(' ready', '')]);
  const others = some.length > mostNamed ? ` and ${some.length - mostNamed} more` : '';
  return `${names.map((parts) => parts.filter(Boolean).join(' ')).join(', ')}${others}`;
}
