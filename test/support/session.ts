import type { Session, PersonsTerminal } from '../../src/cli/cluster-session.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';

export interface SessionOptions {
  api: Session['api'];
  streams?: Session['streams'];
  clock?: Clock;
  namespace?: string;
  isNamed?: boolean;
  terminal?: Partial<PersonsTerminal>;
  signal?: AbortSignal;
}

/** What a command is given, with all that it printed. */
export function aSession({ api, streams, clock = systemClock, signal, ...options }: SessionOptions) {
  const out: string[] = [];
  const err: string[] = [];
  const { namespace = 'shop', isNamed = false, terminal } = options;
  const unused = (): never => {
    throw new Error('no stream was expected');
  };
  const session: Session = {
    api,
    streams: streams ?? { log: unused, forward: unused, close: async () => undefined },
    clock,
    timeZone: 'UTC',
    terminal: { columns: 80, colour: false, ask: undefined, ...terminal },
    io: {
      print: (text) => void out.push(text),
      complain: (text) => void err.push(text),
      stopSignal: () => signal ?? new AbortController().signal,
    },
    server: 'https://cluster.example.com',
    namespace,
    isNamed,
    ownNamespace: 'tapfix',
    installedIn: 'tapfix',
  };
  return { session, out, err };
}
