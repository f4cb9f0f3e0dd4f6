import { load } from './load.ts';

await load('test/golden/*.test.ts');
