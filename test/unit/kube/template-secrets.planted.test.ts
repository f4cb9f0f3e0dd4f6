import { test } from 'node:test';
import * as fc from 'fast-check';
import { plantedPair } from '../../support/planted-templates.ts';
import { checkPair } from './planted.ts';

test('a secret in any position of a template reaches no diff, snapshot, record, log line or message', () =>
  fc.assert(fc.property(plantedPair, checkPair), { numRuns: 40, endOnFailure: true }));
