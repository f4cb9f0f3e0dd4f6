import { request } from 'undici';
import { linesOf } from '../src/kube/client-transport.ts';
import { serveCounts } from './counts.ts';

/** The same input, cut into lines and decoded, and nothing else: what this machine could do at this moment, at most. */
const counts = serveCounts();
const { body } = await request(`http://127.0.0.1:${process.argv[2]}/api/v1/events?watch=true`);
for await (const line of linesOf(body, 1 << 20)) if (JSON.parse(String(line))) counts.add(1);
