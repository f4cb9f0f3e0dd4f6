import { load } from './load.ts';

await load('test/scenario/life/*.test.ts');
