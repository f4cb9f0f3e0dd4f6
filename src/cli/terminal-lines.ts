/** The parts of a log line that a person sees. */
interface Logged {
  level?: string;
  time?: string;
  msg?: string;
  audit?: boolean;
  [field: string]: unknown;
}

export interface TerminalLine {
  to: 'stdout' | 'stderr';
  text: string;
}

export interface TerminalOptions {
  cluster: string;
  include: readonly string[];
  timeZone: string;
  /** True if standard error is a file: whoever records decisions there wants all of them. */
  auditAsJson: boolean;
}

const longestCause = 200;

/**
 * The lines between the cards on a terminal: the start, the end, trouble, decisions. Secrets are removed from the log
 * before.
 */
export function createTerminalLines(options: TerminalOptions): (line: string) => TerminalLine | undefined {
  const broken = new Map<string, string>(); // broken watches, and why: an outage breaks all of them at once
  const at = ({ time }: Logged, text: string): string => `${clockTime(time, options.timeZone)} ${text}`;
  const said = (text: string): TerminalLine => ({ to: 'stdout', text });
  const trouble = (text: string): TerminalLine => ({ to: 'stderr', text });

  function brokenWatch(logged: Logged): TerminalLine | undefined {
    const why = causeOf(logged);
    const isKnown = [...broken.values()].includes(why);
    broken.set(watchOf(logged), why);
    return isKnown ? undefined : trouble(at(logged, withCause(logged)));
  }

  function mendedWatch(logged: Logged): TerminalLine | undefined {
    broken.delete(watchOf(logged));
    return broken.size === 0 ? said(at(logged, 'the API server answers again')) : undefined;
  }

  const known: Record<string, (logged: Logged) => TerminalLine | undefined> = {
    'tapfix started': (logged) => said(startText(logged, options)),
    'tapfix stopped': () => said('stopped'),
    'the API server answers': (logged) => said(at(logged, 'the API server answers')),
    'telegram works again': (logged) => said(at(logged, 'telegram works again')),
    'configuration changed': (logged) => said(at(logged, changeText(logged))),
    'configuration is as before': (logged) => said(at(logged, 'configuration is as before')),
    'another replica leads, this one follows': (logged) => said(at(logged, followText(logged))),
    'this replica leads': (logged) =>
      logged['takeover'] === true ? said(at(logged, `this process holds ${plain(logged['lease'])} now`)) : undefined,
    'watch is broken': brokenWatch,
    'watch is back': mendedWatch,
  };

  return (line) => {
    const logged = parsed(line);
    if (!logged) return undefined;
    if (logged.audit) return trouble(options.auditAsJson ? line.trimEnd() : at(logged, decisionText(logged)));
    const show = known[logged.msg ?? ''];
    if (show) return show(logged);
    return ['warn', 'error'].includes(logged.level ?? '') ? trouble(at(logged, withCause(logged))) : undefined;
  };
}

function startText({ identity, role }: Logged, { cluster, include }: TerminalOptions): string {
  const half = role === 'all' ? '' : `, the ${plain(role)} alone`;
  return `watching ${cluster} (${include.join(', ')}) as ${plain(identity)}${half}; Ctrl-C ends it`;
}

const followText = ({ lease, leader }: Logged): string =>
  `${plain(leader)} holds ${plain(lease)}; this process takes over when it ends`;

const mostFields = 5;

function changeText({ changes }: Logged): string {
  const fields = (Array.isArray(changes) ? changes : []).map((change: { field?: unknown }) => plain(change?.field));
  const more = fields.length > mostFields ? ` and ${fields.length - mostFields} more` : '';
  return `configuration changed${fields.length > 0 ? `: ${fields.slice(0, mostFields).join(', ')}${more}` : ', to the same effect'}`;
}

function decisionText({ decision, by, reason, action, namespace, fix }: Logged): string {
  const who = plain(by);
  const said: Record<string, string> = { Asked: `asked ${who} once more`, Back: `${who} went back` };
  const usual = reason ? `${plain(decision)} for ${who} (${plain(reason)})` : `${plain(decision)} by ${who}`;
  const what = [action, fix && `${plain(namespace)}/${plain(fix)}`].filter(Boolean).map(plain).join(', ');
  return `${said[plain(decision)] ?? usual}${what && `: ${what}`}`;
}

function withCause(logged: Logged): string {
  const cause = causeOf(logged);
  return cause ? `${plain(logged.msg)}: ${cause}` : plain(logged.msg);
}

function causeOf({ err, error, reason }: Logged): string {
  const cause = err ?? error ?? reason ?? '';
  return plain(typeof cause === 'object' ? (cause as { message?: unknown }).message : cause);
}

const watchOf = ({ kind, namespace }: Logged): string => `${plain(kind)} ${plain(namespace)}`;

/** One line, not too long, and without control characters that a terminal would execute. */
function plain(value: unknown): string {
  const text = String(value ?? '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return text.length > longestCause ? `${text.slice(0, longestCause)}...` : text;
}

function clockTime(time: string | undefined, timeZone: string): string {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? '' : new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone }).format(ms);
}

function parsed(line: string): Logged | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Logged) : undefined;
  } catch {
    return undefined;
  }
}
