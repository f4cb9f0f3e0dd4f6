import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composeStorm } from '../../../../src/notices/cards/storm-words.ts';
import { aContext } from '../../../golden/scenes.ts';
import { aFix } from '../../../support/fixes.ts';

const said = (...diagnoses: string[]): string =>
  composeStorm(
    diagnoses.map((diagnosis, n) => aFix({ n: n + 1, name: `svc-${n}`, spec: { diagnosis } })),
    aContext(),
  ).cards[0]!.footer![0] as string;

const table: [string, string[], string][] = [
  ['all say the same', ['exits 1', 'exits 1', 'exits 1'], '3 crash: exits 1'],
  ['most do', ['exits 1', 'exits 1', 'killed'], '3 crash: exits 1 (2 of them)'],
  ['each says something else', ['exits 1', 'exits 2', 'killed'], '3 crash'],
  ['only how long they lived differs', ['exits 1 after 2 s', 'exits 1 after 3 s', 'exits 1 after 9 min'], '3 crash: exits 1'],
  ['most lived equally long: what all share is said, not what most do', ['exits 1 after 2 s', 'exits 1 after 2 s', 'exits 1 within a second'], '3 crash: exits 1'],
  ['what more of them share is said', ['exits 1 after 2 s', 'exits 1 after 2 s', 'exits 1 after 3 s', 'killed'], '4 crash: exits 1 (3 of them)'],
  ['all lived equally long', ['exits 1 after 2 s', 'exits 1 after 2 s'], '2 crash: exits 1 after 2 s'],
  ['images and lives differ', ['image a:1: exits 1 after 2 s', 'image b:1: exits 1 after 3 s'], '2 crash: exits 1'],
]; // prettier-ignore
for (const [name, diagnoses, line] of table)
  test(`what they have in common: ${name}`, () => assert.equal(said(...diagnoses), line));
