import { load } from './load.ts';

// Two processes for two cores.
await load('test/scenario/life/*.test.ts', { part: 2, of: 2 });
