import { line } from '../../lib/text.ts';

/** The component that refused a pod, and why, in plain words. */
export interface Denial {
  /** "Pod Security level restricted": the name that a person would search for. */
  by: string;
  why: string;
}

type Rule = [RegExp, (match: RegExpExecArray) => Denial];

const cause = (text: string): string => line(text.replace(/^[\s:]+/, ''), 280);

/** The violated rules ("allowPrivilegeEscalation != false"), without what each container would have to set. */
const violations = (text: string): string => cause(text.replace(/ \([^()]*\bmust\b[^()]*\)/g, ''));

/** "limits.memory for: app,sidecar; requests.cpu for: app" */
const unsaid = (text: string): string =>
  line(
    text.replace(/ for: ([^;]+)/g, (_, names: string) => ` (missing in ${names.trim().replaceAll(',', ', ')})`),
    280,
  );

/** The messages of the API server in v1.36, and of older versions. */
const rules: readonly Rule[] = [
  [
    /violates PodSecurity "([^":]+)(?::[^"]*)?": ([\s\S]+)$/,
    ([, level, what]) => ({ by: `Pod Security level ${level}`, why: violations(what!) }),
  ],
  [
    /ValidatingAdmissionPolicy '([^']+)'(?: with binding '([^']+)')? denied request:? ?([\s\S]*)$/,
    ([, policy, binding, why]) => ({
      by: `policy ${policy}${binding ? ` (binding ${binding})` : ''}`,
      why: cause(why!),
    }),
  ],
  [
    /admission webhook "([^"]+)" denied the request(?: without explanation)?:? ?([\s\S]*)$/,
    ([, name, why]) => ({ by: `webhook ${name}`, why: cause(why!) }),
  ],
  [
    /failed calling webhook "([^"]+)": ([\s\S]*)$/,
    ([, name, why]) => ({ by: `webhook ${name}`, why: `it does not answer: ${lastCause(why!)}` }),
  ],
  [
    /failed quota: ([^:]+): must specify ([\s\S]+)$/,
    ([, quota, what]) => ({ by: `quota ${quota}`, why: `every container must say ${unsaid(what!)}` }),
  ],
  [/exceeded quota: ([^,\s]+), ([\s\S]+)$/, ([, quota, what]) => ({ by: `quota ${quota}`, why: cause(what!) })],
  [
    /is forbidden: (\[?(?:minimum|maximum) \S+ usage per [\s\S]+|\[?\S+ max limit to request ratio per [\s\S]+)$/,
    ([, what]) => ({ by: 'a LimitRange', why: cause(what!.replace(/^\[|\]$/g, '')) }),
  ],
  [
    /error looking up service account [^:]+: serviceaccount "([^"]+)" not found/,
    ([, name]) => ({ by: 'the API server', why: `ServiceAccount ${name} does not exist` }),
  ],
  [
    /no PriorityClass with name (\S+) was found/,
    ([, name]) => ({ by: 'the API server', why: `PriorityClass ${name} does not exist` }),
  ],
  [
    /RuntimeClass "([^"]+)" not found/,
    ([, name]) => ({ by: 'the API server', why: `RuntimeClass ${name} does not exist` }),
  ],
  [
    /unable to validate against any security context constraint: ([\s\S]+)$/,
    ([, why]) => ({ by: 'every SecurityContextConstraint', why: cause(why!) }),
  ],
  [/because it is being terminated/, () => ({ by: 'the API server', why: 'the namespace is being deleted' })],
  [
    /(?:Pod|pods) "[^"]*" is invalid: ([\s\S]+)$/,
    ([, why]) => ({ by: 'the API server', why: `the pod spec is not valid: ${cause(why!)}` }),
  ],
  [/is forbidden: ([\s\S]+)$/, ([, why]) => ({ by: 'the API server', why: cause(why!) })],
];

/** In `Post "https://...": dial tcp 10.0.0.1:443: connect: connection refused` people look for the end. */
const lastCause = (text: string): string => {
  const quiet = text.replace(/^failed to call webhook: /, '').replace(/Post "[^"]*": ?/, '');
  return line(quiet, 200);
};

/** Pure. The component that refused a pod, from the message of the controller that tried to create it. */
export function denialIn(message: string): Denial {
  for (const [pattern, denial] of rules) {
    const match = pattern.exec(message);
    if (match) return denial(match);
  }
  return { by: 'the API server', why: cause(message.replace(/^.*?(?:Error creating: |failed error: )/, '')) };
}

export const denialInWords = ({ by, why }: Denial): string => `${by} refuses its pods${why ? `: ${why}` : ''}`;
