import { test } from 'node:test';
import { composeMessage } from '../../src/notices/compose.ts';
import { compareWords } from './compare.ts';
import { scenes } from './scenes.ts';

for (const { name, members, context } of scenes)
  test(`the words of ${name}`, () => compareWords(name, composeMessage(members, context)));
