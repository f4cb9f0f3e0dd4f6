import { Unreachable } from '../../../src/kube/api.ts';
import type { Notice } from '../../../src/kube/notice.ts';
import type { Change } from '../../../src/kube/watch.ts';
import { type Call, fakeServer } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { at } from '../../support/fixes.ts';

type Fault = 'lost before' | 'lost after';
type Write = 'create' | 'patch' | 'patch status' | 'delete';

const nameOf = ({ verb, subresource }: Call): string => (subresource ? `${verb} ${subresource}` : verb);

/** An API server that keeps Notices, with a watch, and with requests and answers that get lost on demand. */
export function noticeServer() {
  const server = fakeServer(fakeClock(Date.parse(at('02:12:40'))));
  server.seed('Namespace', undefined, { metadata: { name: 'tapfix' } });
  const faults: { write: Write; fault: Fault }[] = [];
  const calls: string[] = [];
  const lost = new Set<Call>(); // the answers to these
  let onChange: (change: Change<Notice>) => void = () => {};

  function before(call: Call): void {
    calls.push(nameOf(call));
    const index = faults.findIndex(({ write }) => write === nameOf(call));
    const [planned] = index < 0 ? [] : faults.splice(index, 1);
    if (planned?.fault === 'lost before') throw new Unreachable('no route to host');
    if (planned) lost.add(call);
  }
  function after(call: Call): void {
    if (lost.delete(call)) throw new Unreachable('connection reset');
  }
  server.onWrite('Notice', (was, is) => {
    const { name, uid } = (is ?? was)!.metadata;
    if (is) onChange({ type: 'upsert', view: structuredClone(is) as unknown as Notice });
    else onChange({ type: 'gone', namespace: 'tapfix', name, uid });
  });

  return {
    api: server.client({ before, after }),
    calls,
    fail: (write: Write, fault: Fault): void => void faults.push({ write, fault }),
    all: (): Notice[] => structuredClone(server.list('Notice')) as unknown as Notice[],
    watch: (listener: (change: Change<Notice>) => void): void => void (onChange = listener),
  };
}
